/** Rules about the request body. */
import { create } from "../request-template.ts";
import { int64Max, int64Min } from "../../../src/core/plant.ts";
import type { ErrorKind } from "../../../src/core/errors.ts";
import {
  createFern,
  createHead,
  rulesUnder,
  error,
  fern,
  pause,
  plant,
  type Rule,
} from "../rule.ts";

const rule = rulesUnder("Body");
/** The default limit of plantstore. */
const maxBodyBytes = 1024 ** 2;
/** A fern with 15 digits, and white space up to a length. */
const paddedFern = (length: number): string => '{"id":$ID,"name":"fern"}'.padEnd(length - 12);

const accepted = (name: string, body: string): Rule =>
  rule(name, { send: create(body), receive: fern });
const tagged = (tag: string): string => `{"id":$ID,"name":"fern","tag":${tag}}`;
const rejected = (name: string, body: string, kind: ErrorKind): Rule =>
  rule(name, { send: create(body), receive: error(kind) });

/** A first create with a usual id, and a second one that spells the same id differently. */
const sameId = (spelling: string): Rule =>
  rule(
    `The id ${spelling.replace("$ID", "1")} is the integer ${spelling.startsWith("-") ? -1 : 1}`,
    {
      send: create(`{"id":${spelling.startsWith("-") ? "-" : ""}$ID,"name":"fern"}`),
      receive: fern,
    },
    { send: create(`{"id":${spelling},"name":"moss"}`), receive: error("idTaken") },
    { send: create(`{"id":${spelling},"name":"fern"}`), receive: fern },
  );

/** Rules of the section. */
export const bodyRules: readonly Rule[] = [
  ...["Application/JSON", 'application/json;charset="UTF-8"', "application/json; profile=x; a"].map(
    (type) =>
      rule(`The content type ${type} is accepted`, {
        send: createFern({ "Content-Type": type }),
        receive: fern,
      }),
  ),
  ...(
    [
      ["A missing content type", undefined, "notJsonType"],
      ["The content type of curl -d", "application/x-www-form-urlencoded", "notJsonType"],
      ["The content type application/ld+json", "application/ld+json", "notJsonType"],
      ["A second content type", ["application/json", "application/json"], "notJsonType"],
      [
        "A charset after another parameter",
        "application/json; a=b; Charset=latin1",
        "notUtf8Charset",
      ],
    ] as const
  ).map(([what, type, kind]) =>
    rule(`${what} is rejected`, {
      send: createFern({ "Content-Type": type }),
      receive: error(kind),
    }),
  ),
  rule("Accept is ignored", {
    send: createFern({ Accept: "text/html, image/png;q=0" }),
    receive: fern,
  }),
  rule("A transfer coding other than chunked is a content coding", {
    send: createFern({ "Transfer-Encoding": "gzip, chunked", "Content-Length": undefined }),
    receive: error("contentCoding"),
  }),
  accepted("A body of 1 MiB is accepted", paddedFern(maxBodyBytes)),
  rejected(
    "A body of 1 MiB and one byte is rejected",
    paddedFern(maxBodyBytes + 1),
    "bodyTooLarge",
  ),
  rule("A name of almost 1 MiB comes back completely", {
    send: create(`{"id":$ID,"name":"${"n".repeat(1_048_000)}"}`),
    receive: plant(`{"name":"${"n".repeat(1_048_000)}"}`),
  }),
  rule("A client that sends all of a body over the limit can read the response", {
    send: create(" ".repeat(2 * maxBodyBytes)),
    receive: error("bodyTooLarge"),
  }),
  rule("A client that sends chunks over the limit can read the response", {
    send: `${createHead}Transfer-Encoding: chunked\r\n\r\n${`10000\r\n${" ".repeat(0x10000)}\r\n`.repeat(24)}0\r\n\r\n`,
    receive: error("bodyTooLarge"),
  }),
  rejected("65 levels are rejected", `${"[".repeat(65)}${"]".repeat(65)}`, "tooDeep"),
  rejected("100,000 levels are rejected", "[".repeat(100_000), "tooDeep"),
  sameId("$ID.0"),
  sameId("$ID.000e0"),
  sameId("$IDe0"),
  sameId("$ID0e-1"),
  sameId("0.$IDE+15"),
  sameId("-$ID.0"),
  sameId("-$ID0e-1"),
  ...["-0", "0e5", "0"].map((zero) =>
    rule(`The id ${zero} is the integer 0`, {
      send: create(`{"id":${zero},"name":"plantstore conform"}`),
      receive: plant('{"name":"plantstore conform"}', { or: error("idTaken") }),
    }),
  ),
  ...(
    [
      ["1.5", "idNotInteger"],
      ["123456789012345.9999999", "idNotInteger"],
      ["9007199254740993.5", "idNotInteger"],
      ["1e-1", "idNotInteger"],
      ["1e-999999999", "idNotInteger"],
      ["null", "idNotInteger"],
      ["true", "idNotInteger"],
      ["[1]", "idNotInteger"],
      [`${int64Max + 1n}`, "idOutOfRange"],
      [`${int64Min - 1n}`, "idOutOfRange"],
      ["1e19", "idOutOfRange"],
      ["1e999999999", "idOutOfRange"],
      ["-1e400", "idOutOfRange"],
      ["01", "notJson"],
      ["+1", "notJson"],
      ["0x10", "notJson"],
      ["1.", "notJson"],
      ["NaN", "notJson"],
    ] as const
  ).map(([id, kind]) => rejected(`The id ${id} is rejected`, `{"id":${id},"name":"fern"}`, kind)),
  ...["null", "7", "true", '"fern"'].map((body) =>
    rejected(`A body that is only ${body} gets error 42200`, body, "notObject"),
  ),
  rejected("A name of null gets error 42205", '{"id":$ID,"name":null}', "nameNotString"),
  rejected("A tag that is an object gets error 42206", tagged("{}"), "tagNotString"),
  rejected("A tag that is a number gets error 42206", tagged("7"), "tagNotString"),
  rule("NUL and control characters are stored exactly", {
    send: create(String.raw`{"id":$ID,"name":"a\u0000b\u001f\u007f"}`),
    receive: plant(String.raw`{"name":"a\u0000b\u001f\u007f"}`),
  }),
  rule("A name is not normalized: two ways to write a letter are two names", {
    send: [
      create(String.raw`{"id":$ID,"name":"\u00e9"}`),
      create(String.raw`{"id":$ID,"name":"e\u0301"}`),
    ],
    receive: [plant(String.raw`{"name":"\u00e9"}`), error("idTaken")],
  }),
  accepted("Unknown members are ignored", '{"id":$ID,"name":"fern","x":{"id":"y","name":1}}'),
  accepted("Unknown members may occur twice", '{"id":$ID,"name":"fern","x":{"y":1,"y":2},"x":1}'),
  accepted(
    "Unknown members may have unpaired surrogates",
    String.raw`{"id":$ID,"name":"fern","\ud83c":["\udc00"]}`,
  ),
  accepted("Members of other case are unknown", '{"id":$ID,"ID":"x","name":"fern","Name":7}'),
  accepted("A member __proto__ is unknown", '{"__proto__":{"tag":"pot"},"id":$ID,"name":"fern"}'),
  ...(
    [
      ["with the same value", '"name":"fern","name":"fern"'],
      ["whose name is escaped", String.raw`"name":"fern","n\u0061me":"moss"`],
    ] as const
  ).map(([which, members]) =>
    rejected(`A duplicate member ${which} is rejected`, `{"id":$ID,${members}}`, "duplicateMember"),
  ),
  accepted("A leading byte order mark is accepted", '\uFEFF{"id":$ID,"name":"fern"}'),
  rejected(
    "A second byte order mark is rejected",
    '\uFEFF\uFEFF{"id":$ID,"name":"fern"}',
    "notJson",
  ),
  ...(
    [
      ["A low surrogate before a high one", String.raw`"name":"\udf3f\ud83c"`],
      ["An unpaired surrogate in a tag", String.raw`"name":"fern","tag":"\ud800x"`],
    ] as const
  ).map(([what, members]) =>
    rejected(`${what} is rejected`, `{"id":$ID,${members}}`, "loneSurrogate"),
  ),
  ...(
    [
      ["A surrogate encoded in UTF-8", "\u00ed\u00a0\u00bc"],
      ["An overlong encoding", "\u00c0\u00af"],
      ["A truncated character", "\u00f0\u009f\u008c"],
    ] as const
  ).map(([what, name]) =>
    rule(`${what} is rejected`, {
      send: { ...create(`{"id":$ID,"name":"${name}"}`), isLatin1: true },
      receive: error("notUtf8"),
    }),
  ),
  rejected("A body that ends early is rejected", '{"id":$ID,"name":"fern"', "notJson"),
  rejected("Text after the plant is rejected", '{"id":$ID,"name":"fern"} x', "notJson"),
  rejected("A comma after the last member is rejected", '{"id":$ID,"name":"fern",}', "notJson"),
  rejected("A comment is rejected", '{"id":$ID,"name":"fern"}// x', "notJson"),
  rejected("A raw line break in a string is rejected", '{"id":$ID,"name":"f\nern"}', "notJson"),
  rule("A body that arrives in slow pieces is read to its end", {
    send: [
      "POST $BASE/plants HTTP/1.1\r\nHost: $HOST\r\nAuthoriza",
      pause,
      "tion: Bearer $TOKEN\r\nContent-Type: application/json\r\nContent-Length: 36\r\n\r",
      pause,
      '\n{"id":$ID,"na',
      pause,
      'me":"fern"',
      pause,
      "}",
    ],
    receive: fern,
  }),
];
