/** Rules about the credential. */
import { create } from "../../core/examples.ts";
import { createFern, createHead, decidedUnder, error, fern, type Rule } from "../rule.ts";

const decided = decidedUnder("Credential");
const challenge = /^Bearer realm="plantstore"$/;
const challengeWithToken = /^Bearer realm="plantstore", error="invalid_token"$/;
const malformed = (value: string | readonly string[]) => ({
  send: createFern({ Authorization: value }),
  receive: error("malformedCredential"),
});

/** Rules of the section. */
export const credentialRules: readonly Rule[] = [
  ...["bearer", "BEARER", "bEARER"].map((scheme) =>
    decided(`The scheme is case-insensitive: ${scheme} is accepted`, {
      send: createFern({ Authorization: `${scheme} $TOKEN` }),
      receive: fern,
    }),
  ),
  decided(
    "Two Authorization headers are rejected, even if both have the same valid token",
    malformed(["Bearer $TOKEN", "Bearer $TOKEN"]),
  ),
  decided("A scheme without a token is malformed", malformed("Bearer")),
  decided("An empty Authorization header is malformed", malformed("")),
  decided("A token with a comma is malformed", malformed("Bearer $TOKEN,")),
  decided("Two tokens in one header are malformed", malformed("Bearer $TOKEN $TOKEN")),
  decided("A token that is only the start of a valid one is unknown", {
    send: createFern({ Authorization: "Bearer pst_" }),
    receive: error("unknownToken"),
  }),
  decided("A missing credential has a challenge without an error", {
    send: createFern({ Authorization: undefined }),
    receive: error("noCredential", { headers: { "WWW-Authenticate": challenge } }),
  }),
  decided("A rejected token has a challenge with the error invalid_token", {
    send: createFern({ Authorization: "Bearer unknown" }),
    receive: error("unknownToken", { headers: { "WWW-Authenticate": challengeWithToken } }),
  }),
  decided("The credential is checked before the content type and the body", {
    send: create("{", { Authorization: "Bearer unknown", "Content-Type": "text/plain" }),
    receive: error("unknownToken"),
  }),
  decided("The credential is checked before any of the body arrives", {
    send: `${createHead.replace("$TOKEN", "unknown")}Content-Length: 36\r\n\r\n`,
    receive: error("unknownToken"),
  }),
  decided("A token in the query or in the body is ignored", {
    send: {
      ...create('{"id":$ID,"name":"fern","access_token":"$TOKEN"}', { Authorization: undefined }),
      target: "$BASE/plants?access_token=$TOKEN",
    },
    receive: error("noCredential"),
  }),
];
