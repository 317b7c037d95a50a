/** Rules about the credential. */
import { create } from "../request-template.ts";
import { createFern, createHead, rulesUnder, error, fern, plant, type Rule } from "../rule.ts";

const rule = rulesUnder("Credential");
const challenge = /^Bearer realm="plantstore"$/;
const challengeWithToken = /^Bearer realm="plantstore", error="invalid_token"$/;
const malformed = (value: string | readonly string[], wanted: RegExp) => ({
  send: createFern({ Authorization: value }),
  receive: error("malformedCredential", { headers: { "WWW-Authenticate": wanted } }),
});

/** Swaps capital and small letters. A token without letters gets another end instead. */
function swapCase(token: string): string {
  const swapped = token.replaceAll(/[a-z]/gi, (letter) =>
    letter < "a" ? letter.toLowerCase() : letter.toUpperCase(),
  );
  return swapped === token ? `${token}x` : swapped;
}

/** Rules of the section. */
export const credentialRules: readonly Rule[] = [
  ...["bearer", "BEARER", "bEARER"].map((scheme) =>
    rule(`The scheme is case-insensitive: ${scheme} is accepted`, {
      send: createFern({ Authorization: `${scheme} $TOKEN` }),
      receive: fern,
    }),
  ),
  rule("Two spaces after the scheme are accepted", {
    send: createFern({ Authorization: "Bearer  $TOKEN" }),
    receive: fern,
  }),
  rule(
    "Two Authorization headers are rejected, even if both have the same valid token",
    malformed(["Bearer $TOKEN", "Bearer $TOKEN"], challengeWithToken),
  ),
  ...[
    ["A scheme without a token", "Bearer"],
    ["An empty Authorization header", ""],
    ["Another scheme", "Basic cGxhbnQ6c3RvcmU="],
  ].map(([what, value = ""]) =>
    rule(`${what} is malformed: its challenge has no error`, malformed(value, challenge)),
  ),
  ...[
    ["A token with a comma", "Bearer $TOKEN,"],
    ["A header with two tokens", "Bearer $TOKEN $TOKEN"],
  ].map(([what, value = ""]) =>
    rule(
      `${what} is malformed: its challenge has the error invalid_token`,
      malformed(value, challengeWithToken),
    ),
  ),
  rule("A token that is only the start of a valid one is unknown", {
    send: createFern({ Authorization: "Bearer pst_" }),
    receive: error("unknownToken"),
  }),
  rule("A token that begins with a valid one is unknown", {
    send: createFern({ Authorization: "Bearer $TOKENx" }),
    receive: error("unknownToken"),
  }),
  rule("A valid token with its capital and small letters swapped is unknown", {
    send: { request: createFern(), toToken: swapCase },
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
  rule("A missing credential is reported before a content type and a body", {
    send: create("{", { Authorization: undefined, "Content-Type": "text/plain" }),
    receive: error("noCredential"),
  }),
  rule("A plant with a rejected credential is not stored", {
    send: [createFern({ Authorization: "Bearer unknown" }), create('{"id":$ID,"name":"moss"}')],
    receive: [error("unknownToken"), plant('{"name":"moss"}')],
  }),
  rule("A token in the query or in the body is ignored", {
    send: {
      ...create('{"id":$ID,"name":"fern","access_token":"$TOKEN"}', { Authorization: undefined }),
      target: "$BASE/plants?access_token=$TOKEN",
    },
    receive: error("noCredential"),
  }),
];
