/** Rules about error numbers, messages, and the status of other paths and methods. */
import { errorTable } from "../../../src/core/errors.ts";
import { examples } from "../examples.ts";
import { create } from "../request-template.ts";
import {
  createFern,
  get,
  rulesUnder,
  error,
  type Exchange,
  fern,
  fernBody,
  plant,
  type Rule,
} from "../rule.ts";

const rule = rulesUnder("Status and error numbers");
/** Servers with all operations have another rule. */
const createOnly = { set: "create" } as const;
const secret = `pst_${"A".repeat(49)}`;

/** Rules of the section. */
export const errorRules: readonly Rule[] = [
  ...examples.map((example) => {
    const { error: number, when } = errorTable[example.error];
    const exchanges: Exchange[] = [
      { send: example.accepted, receive: plant(example.plant) },
      { send: example.rejected, receive: error(example.error) },
    ];
    if (example.before !== undefined) exchanges.unshift({ send: example.before, receive: fern });
    const isOther = example.error === "noSuchMethod";
    return { ...rule(`Error ${number}: ${when}`, ...exchanges), ...(isOther && createOnly) };
  }),
  rule("An Error has exactly the members error and message", {
    send: create("{}"),
    receive: error("idMissing", {
      contains:
        /^\s*\{\s*"(?:error"\s*:\s*\d+\s*,\s*"message"\s*:\s*"(?:[^"\\]|\\.)*"|message"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"error"\s*:\s*\d+)\s*\}\s*$/,
    }),
  }),
  rule("The message names all broken rules, and the number is the first", {
    send: create('{"tag":1}'),
    receive: error("idMissing", { contains: /id.*name.*tag/ }),
  }),
  rule("The problems in a message have the order of the error table, not of the body", {
    send: create(String.raw`{"id":1.5,"name":"\ud800","tag":"a","tag":"b"}`),
    receive: error("duplicateMember", { contains: /tag .*name .*id / }),
  }),
  rule("The message names all problems of the headers, and the number is the first", {
    send: create("", {
      "Content-Length": "10000000000",
      "Content-Type": "text/plain",
      "Content-Encoding": "br",
      Expect: "cake",
    }),
    receive: error("bodyTooLarge", { contains: /content type.*coding.*expectation/ }),
  }),
  rule("The message for a body that is not JSON says at which byte", {
    send: create('{"id":$ID,"name":"ö",}'),
    receive: error("notJson", { contains: /\b34\b/ }),
  }),
  rule("A message quotes no token from the body", {
    send: create(`{"id":"${secret}","name":"${secret}","name":"fern"}`),
    receive: error("duplicateMember", { containsNot: /AAAAAA/ }),
  }),
  rule("A message quotes no query", {
    send: { ...createFern(), target: "$BASE/plant?password=hunter2" },
    receive: error("noSuchPath", { containsNot: /hunter2/ }),
  }),
  ...[
    "$BASE/",
    "$BASE/plants/",
    "$BASE/Plants",
    "$BASE//plants",
    "$BASE/plants/1",
    "$BASE/plants%2F",
  ].map((target) => ({
    ...rule(`The path ${target.replace("$BASE", "")} is unknown and does not redirect`, {
      send: { ...createFern(), target },
      receive: error("noSuchPath", { headers: { Location: undefined } }),
    }),
    ...(target.endsWith("/1") && createOnly),
  })),
  rule("GET of an unknown path gets error 40400", {
    send: get("$BASE/plant"),
    receive: error("noSuchPath"),
  }),
  rule("A target that is not a path is unknown", {
    send: "OPTIONS * HTTP/1.1\r\nHost: $HOST\r\n\r\n",
    receive: error("noSuchPath"),
  }),
  rule("CONNECT is not allowed", {
    send: "CONNECT $HOST HTTP/1.1\r\nHost: $HOST\r\n\r\n",
    receive: error("noSuchMethod", { headers: { Allow: /\bPOST\b/ } }),
    thenEnds: true,
  }),
  rule("OPTIONS is not allowed on /plants without CORS, and Allow names POST", {
    send: { ...createFern(), method: "OPTIONS" },
    receive: error("noSuchMethod", {
      headers: { Allow: /\bPOST\b/ },
      or: { status: 204, headers: { Allow: /\bPOST\b/ } },
    }),
  }),
  ...["GET", "PUT", "PATCH", "DELETE"].map((method) => ({
    ...rule(`${method} is not allowed on /plants, and Allow names POST`, {
      send: { ...create(fernBody), method },
      receive: error("noSuchMethod", { headers: { Allow: /\bPOST\b/ } }),
    }),
    ...(method === "GET" && createOnly),
  })),
  rule("The method and the path are checked before the credential", {
    send: [
      { ...createFern({ Authorization: undefined }), target: "$BASE/plant" },
      { ...createFern({ Authorization: undefined }), method: "PUT" },
    ],
    receive: [error("noSuchPath"), error("noSuchMethod")],
  }),
];
