/** Rules about the operations that a server has only with `--operations all`. */
import { int64Max, int64Min } from "../../../src/core/plant.ts";
import { create, type HeaderChanges, type RequestTemplate } from "../request-template.ts";
import { createFern, deleted, error, fern, page, plant, type Rule, rulesUnder } from "../rule.ts";

const rule = rulesUnder("All operations");
const withoutBody = { "Content-Type": undefined, "Content-Length": undefined } as const;
/** Arrives in several pieces. */
const longBody = "no JSON".repeat(15_000);
const secret = `pst_${"A".repeat(49)}`;

/** A request without a body. */
function request(
  method: string,
  target: string,
  changes: HeaderChanges = withoutBody,
): RequestTemplate {
  return { ...create("", changes), method, target: `$BASE${target}` };
}

const list = (query: string): RequestTemplate => request("GET", `/plants?${query}`);
const remove = (id: string): RequestTemplate => request("DELETE", `/plants/${id}`);
const createAt = (offset: number, members = '"name":"fern"'): RequestTemplate =>
  create(`{"id":$ID_${offset},${members}}`);
const commonHeaders = {
  "Cache-Control": /^no-store$/,
  "X-Content-Type-Options": /^nosniff$/,
  "X-Request-Id": /./,
};

const listRules: readonly Rule[] = [
  rule("GET /plants has status 200 and a JSON array", {
    send: request("GET", "/plants"),
    receive: { status: 200, headers: commonHeaders, contains: /^\s*\[[^]*\]\s*$/ },
  }),
  rule(
    "A page has the plants after an id in ascending order, each with its id, then its name, and its tag if it has one",
    { send: createAt(3), receive: fern },
    { send: createAt(1, '"name":"moss","tag":""'), receive: plant('{"name":"moss","tag":""}') },
    {
      send: list("after=$ID&limit=2"),
      receive: page('[{"id":$ID_1,"name":"moss","tag":""},{"id":$ID_3,"name":"fern"}]'),
    },
  ),
  rule(
    "A page has every digit of an id",
    { send: create('{"id":$BIG_1,"name":"fern"}'), receive: fern },
    { send: list("after=$BIG&limit=1"), receive: page('[{"id":$BIG_1,"name":"fern"}]') },
  ),
  rule(
    "A page has the name and the tag as they were sent",
    {
      send: createAt(1, String.raw`"name":"m\u00f6n\"stera \ud83c\udf3f","tag":"\u0000"`),
      receive: plant(String.raw`{"name":"mön\"stera 🌿","tag":"\u0000"}`),
    },
    {
      send: list("after=$ID&limit=1"),
      receive: page(String.raw`[{"id":$ID_1,"name":"mön\"stera 🌿","tag":"\u0000"}]`),
    },
  ),
  rule(
    "If more plants follow, Link names the next page with a relative URL",
    { send: createAt(1), receive: fern },
    { send: createAt(2), receive: fern },
    {
      send: list("after=$ID&limit=1"),
      receive: page('[{"id":$ID_1,"name":"fern"}]', {
        headers: { Link: /^<\?limit=1&after=\d{15}>; rel="?next"?$/ },
      }),
    },
    { send: list("limit=1&after=$ID_1"), receive: page('[{"id":$ID_2,"name":"fern"}]') },
  ),
  rule("After the largest id the page is empty, and no page follows", {
    send: list(`after=${int64Max}`),
    receive: page("[]", { headers: { Link: undefined } }),
  }),
  rule(
    "A created plant is in the next page that is read",
    { send: list(`after=${int64Max}&limit=1000`), receive: page("[]") },
    {
      send: [createAt(1), list("after=$ID&limit=1")],
      receive: [fern, page('[{"id":$ID_1,"name":"fern"}]')],
    },
  ),
  rule("HEAD /plants has the status of GET and no body", {
    send: request("HEAD", "/plants?limit=1"),
    receive: { status: 200, isBodiless: true, headers: commonHeaders },
  }),
  rule("Parameters are percent-decoded once, and -0 is 0", {
    send: [list("%6Cimit=%31&after=%2D0"), list("limit=%2531")],
    receive: [{ status: 200 }, error("limitInvalid")],
  }),
  rule("Other parameters are ignored", {
    send: list(`note=%zz&note=2&LIMIT=x&&after=${int64Max}`),
    receive: page("[]"),
  }),
  ...[
    ["0", "0"],
    ["1001", "1001"],
    ["negative", "-1"],
    ["-0", "-0"],
    ["empty", ""],
    ["with a plus", "+1"],
    ["with an encoded plus", "%2B1"],
    ["with leading zeros", "007"],
    ["with a fraction", "1.0"],
    ["with an exponent", "1e2"],
    ["in other digits", "%D9%A3"],
    ["encoded wrongly", "%zz"],
    ["outside int64", "9".repeat(1000)],
    ["given twice", "1&limit=1"],
  ].map(([what, value]) =>
    rule(`A limit that is ${what} gets error 42207`, {
      send: list(`limit=${value}`),
      receive: error("limitInvalid"),
    }),
  ),
  ...[
    ["empty", ""],
    ["a word", "fern"],
    ["with a plus", "+1"],
    ["with a fraction", "1.0"],
    ["above int64", `${int64Max + 1n}`],
    ["below int64", `${int64Min - 1n}`],
    ["given twice", "1&after=1"],
  ].map(([what, value]) =>
    rule(`An after that is ${what} gets error 42208`, {
      send: list(`after=${value}`),
      receive: error("afterInvalid"),
    }),
  ),
  rule("The message names all broken parameters, and quotes no token", {
    send: list(`after=${secret}&limit=x`),
    receive: error("limitInvalid", { contains: /limit.*after/, containsNot: /AAAAAA/ }),
  }),
  rule("The body of a GET is ignored", {
    send: [
      { ...request("GET", `/plants?after=${int64Max}`, {}), body: longBody },
      list(`after=${int64Max}`),
    ],
    receive: [page("[]"), page("[]")],
  }),
];

const deleteRules: readonly Rule[] = [
  rule(
    "DELETE has status 204 without a body, Content-Type and Content-Length",
    { send: createFern(), receive: fern },
    { send: remove("$ID"), receive: deleted({ headers: commonHeaders }) },
  ),
  rule(
    "A deleted plant is in no page, and the others are",
    { send: [createAt(1), createAt(2)], receive: [fern, fern] },
    { send: remove("$ID_1"), receive: deleted() },
    { send: list("after=$ID&limit=1"), receive: page('[{"id":$ID_2,"name":"fern"}]') },
  ),
  rule(
    "A delete of an id without a plant gets error 40401, also when it is repeated",
    { send: remove("$ID"), receive: error("noSuchPlant") },
    { send: [createFern(), remove("$ID")], receive: [fern, deleted()] },
    { send: remove("$ID"), receive: error("noSuchPlant") },
  ),
  rule(
    "A create after a delete stores the plant again, the same or another",
    { send: [createFern(), remove("$ID")], receive: [fern, deleted()] },
    {
      send: [createFern(), remove("$ID"), create('{"id":$ID,"name":"moss"}')],
      receive: [
        plant('{"name":"fern"}', { headers: { "X-Plantstore-Result": /^created$/ } }),
        deleted(),
        plant('{"name":"moss"}', { headers: { "X-Plantstore-Result": /^created$/ } }),
      ],
    },
  ),
  rule("Creates and deletes of one id on one connection take effect in their order", {
    send: [createFern(), remove("$ID"), remove("$ID"), createFern(), createFern()],
    receive: [fern, deleted(), error("noSuchPlant"), fern, fern],
  }),
  rule(
    "An id of a path is percent-decoded once",
    { send: create('{"id":-$ID,"name":"fern"}'), receive: fern },
    { send: remove("%252D$ID"), receive: error("idNotInteger") },
    { send: remove("%2D$ID"), receive: deleted() },
  ),
  rule(
    "An id of 64 bits in a path has every digit",
    {
      send: [create('{"id":$BIG,"name":"even"}'), create('{"id":$BIG_1,"name":"odd"}')],
      receive: [plant('{"name":"even"}'), plant('{"name":"odd"}')],
    },
    { send: [remove("$BIG_1"), remove("$BIG_1")], receive: [deleted(), error("noSuchPlant")] },
    { send: remove("$BIG"), receive: deleted() },
  ),
  ...[
    ["empty", ""],
    ["a word", "fern"],
    ["with a plus", "+$ID"],
    ["with leading zeros", "00$ID"],
    ["with a fraction", "$ID.0"],
    ["with an exponent", "1e3"],
    ["with a slash", "1%2F2"],
    ["encoded wrongly", "%zz"],
  ].map(([what, id = ""]) =>
    rule(`An id in a path that is ${what} gets error 42202`, {
      send: remove(id),
      receive: error("idNotInteger"),
    }),
  ),
  ...[`${int64Max + 1n}`, `${int64Min - 1n}`, "9".repeat(1000)].map((id) =>
    rule(`The id ${id.slice(0, 20)} in a path gets error 42203`, {
      send: remove(id),
      receive: error("idOutOfRange"),
    }),
  ),
  rule(
    "The body of a DELETE is ignored",
    { send: createFern(), receive: fern },
    {
      send: [{ ...request("DELETE", "/plants/$ID", {}), body: longBody }, remove("$ID")],
      receive: [deleted(), error("noSuchPlant")],
    },
  ),
];

const sharedRules: readonly Rule[] = [
  ...["GET", "HEAD", "POST", "PUT", "PATCH"].map((method) =>
    rule(`${method} is not allowed on /plants/{id}, and Allow names DELETE`, {
      send: request(method, "/plants/$ID"),
      receive:
        method === "HEAD"
          ? { status: 405, isBodiless: true, headers: { Allow: /\bDELETE\b/ } }
          : error("noSuchMethod", { headers: { Allow: /\bDELETE\b/ } }),
    }),
  ),
  rule("Allow of /plants names both of its operations", {
    send: request("PUT", "/plants"),
    receive: error("noSuchMethod", { headers: { Allow: /(?=.*\bGET\b)(?=.*\bPOST\b)/ } }),
  }),
  ...(
    [
      ["GET", "/plants?limit=x"],
      ["DELETE", "/plants/fern"],
    ] as const
  ).map(([method, target]) =>
    rule(`${method} checks the credential before the parameters`, {
      send: [
        request(method, target, { ...withoutBody, Authorization: undefined }),
        request(method, target, { ...withoutBody, Authorization: "Bearer unknown" }),
      ],
      receive: [
        error("noCredential", { headers: { "WWW-Authenticate": /^Bearer realm="[^"]*"$/ } }),
        error("unknownToken", { headers: { "WWW-Authenticate": /error="invalid_token"/ } }),
      ],
    }),
  ),
];

/** Rules of the section. */
export const allOperationsRules: readonly Rule[] = [...listRules, ...deleteRules, ...sharedRules];
