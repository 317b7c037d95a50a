/** Rules about the credential. */
import { create } from "../../../src/core/request-template.ts";
import { createFern, createHead, rulesUnder, error, fern, type Rule } from "../rule.ts";

const rule = rulesUnder("Credential");
const challenge = /^Bearer realm="plantstore"$/;
const challengeWithToken = /^Bearer realm="plantstore", error="invalid_token"$/;
const malformed = (value: string | readonly string[]) => ({
  send: createFern({ Authorization: value }),
  receive: error("malformedCredential"),
});

/** Rules of the section. */
export const credentialRules: readonly Rule[] = [
  ...["bearer", "BEARER", "bEARER"].map((scheme) =>
    rule(`The scheme is case-insensitive: ${scheme} is accepted`, {
      send: createFern({ Authorization: `${scheme} $TOKEN` }),
      receive: fern,
    }),
  ),
  rule(
    "Two Authorization headers are rejected, even if both have the same valid token",
    malformed(["Bearer $TOKEN", "Bearer $TOKEN"]),
  ),
  rule("A scheme without a token is malformed", malformed("Bearer")),
  rule("An empty Authorization header is malformed", malformed("")),
  rule("A token with a comma is malformed", malformed("Bearer $TOKEN,")),
  rule("Two tokens in one header are malformed", malformed("Bearer $TOKEN $TOKEN")),
  rule("A token that is only the start of a valid one is unknown", {
    send: createFern({ Authorization: "Bearer pst_" }),
    receive: error("unknownToken"),
  }),
  rule("A missing credential has a challenge without an error", {
    send: createFern({ Authorization: undefined }),
    receive: error("noCredential", { headers: { "WWW-Authenticate": challenge } }),
  }),
  rule("A rejected token has a challenge with the error invalid_token", {
    send: createFern({ Authorization: "Bearer unknown" }),
    receive: error("unknownToken", { headers: { "WWW-Authenticate": challengeWithToken } }),
  }),
  rule("The credential is checked before the content type and the body", {
    send: create("{", { Authorization: "Bearer unknown", "Content-Type": "text/plain" }),
    receive: error("unknownToken"),
  }),
  rule("The credential is checked before any of the body arrives", {
    send: `${createHead.replace("$TOKEN", "unknown")}Content-Length: 36\r\n\r\n`,
    receive: error("unknownToken"),
  }),
  rule("A token in the query or in the body is ignored", {
    send: {
      ...create('{"id":$ID,"name":"fern","access_token":"$TOKEN"}', { Authorization: undefined }),
      target: "$BASE/plants?access_token=$TOKEN",
    },
    receive: error("noCredential"),
  }),
];
