/** A server with one fault breaks exactly the rules about this fault: plantstore behind a proxy that changes bytes. */
import { connect, type Socket } from "node:net";
import { expect, it } from "vitest";
import { plantSchema } from "../../src/core/read-plant.ts";
import { openRawServer } from "../client/scripted-server.ts";
import type { OperationSet } from "../../src/core/contract.ts";
import { listRules } from "./rules.ts";
import { runOnTestServer } from "./test-run.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";

interface Fault {
  /** Changes what clients send, as Latin-1. */
  readonly request?: (text: string) => string;
  /** Changes what the server sends. */
  readonly response?: (text: string) => string;
  /** Default: `create`. */
  readonly operations?: OperationSet;
}

const round = (id: string): string => String(BigInt(Number(id)));
/** Bytes beyond ASCII stay the same. */
const toSmall = (letter: string): string => letter.toLowerCase();
/** The length of the body stays the same too: white space moves out of the string. */
const trim = (member: string): string => {
  return member.replaceAll(/" +| +"/g, '"').padEnd(member.length);
};
/** Names, tags and any further text of a plant in a body. */
const members = new RegExp(`(?<="(?:${Object.keys(plantSchema.shape).join("|")})":)"[^"]*"`, "g");

const faults: readonly (readonly [fault: string, Fault, rules: readonly string[]])[] = [
  ["has no fault", {}, []],
  [
    "uses the first of two Authorization headers",
    { request: (text) => text.replace(/(Authorization: .*\r\n)Authorization: .*\r\n/, "$1") },
    ["Two Authorization headers are rejected, even if both have the same valid token"],
  ],
  [
    "has a case-sensitive scheme",
    { request: (text) => text.replace(/(?:bearer|BEARER|bEARER) /, "Digest ") },
    ["bearer", "BEARER", "bEARER"].map(
      (each) => `The scheme is case-insensitive: ${each} is accepted`,
    ),
  ],
  [
    "ignores the charset",
    { request: (text) => text.replace(/charset=(iso-8859-1|latin1)/i, "charset=utf-8") },
    ["Error 41501: charset is not UTF-8", "A charset after another parameter is rejected"],
  ],
  [
    "rejects a byte order mark",
    { request: (text) => text.replace("\u00ef\u00bb\u00bf{", "\u00ef\u00bb_{") },
    ["A leading byte order mark is accepted", "A second byte order mark is rejected"],
  ],
  [
    "rounds ids to 53 bits",
    { request: (text) => text.replace(/9000\d{15}/g, round) },
    ["Two ids of 64 bits that differ by one belong to two plants"],
  ],
  [
    "rounds the ids of a page to 53 bits",
    { response: (text) => text.replace(/(?<="id":)9000\d{15}/g, round), operations: "all" },
    ["A page has every digit of an id"],
  ],
  [
    "changes names and tags to small letters",
    { request: (text) => text.replace(members, (member) => member.replaceAll(/[A-Z]/g, toSmall)) },
    [
      "Capital and small letters in a name and a tag come back as they were sent",
      "Names that differ only in case belong to different plants",
      "Tags that differ only in case belong to different plants",
    ],
  ],
  [
    "removes white space around names and tags",
    { request: (text) => text.replace(members, (member) => trim(member)) },
    [
      "White space in a name and a tag comes back as it was sent",
      "Names that differ only in white space belong to different plants",
      "Tags that differ only in white space belong to different plants",
    ],
  ],
  [
    "compares names without case",
    { request: (text) => text.replace('"fERN"', '"Fern"') },
    ["Names that differ only in case belong to different plants"],
  ],
  [
    "compares tags without white space",
    { request: (text) => text.replace('" pot"', '"pot" ') },
    ["Tags that differ only in white space belong to different plants"],
  ],
  [
    "compares tokens without case",
    {
      request: (text) =>
        text.replace(new RegExp(`Bearer ${testToken}\r`, "i"), `Bearer ${testToken}\r`),
    },
    ["A valid token with its capital and small letters swapped is unknown"],
  ],
  [
    "compares only the beginning of a token",
    { request: (text) => text.replace(`${testToken}x`, testToken) },
    ["A token that begins with a valid one is unknown"],
  ],
  [
    "reads an id in a string",
    { request: (text) => text.replace(/"id":"(\d+)"/, '"id":  $1') },
    ["An id that is a string gets 400 and an Error", "Error 42202: id is not an integer"],
  ],
  [
    "does not send 100 Continue",
    { response: (text) => text.replaceAll("HTTP/1.1 100 Continue\r\n\r\n", "") },
    ["100 Continue is sent before the body of a request that expects it"],
  ],
];

/** Starts a proxy in front of a port until the test ends. @returns its URL */
function startProxy(port: number, { request, response }: Fault): Promise<string> {
  const change = (bytes: Buffer, how: (text: string) => string = String): Buffer =>
    Buffer.from(how(bytes.toString("latin1")), "latin1");
  const carry = (client: Socket): void => {
    const server = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    client.on("data", (bytes: Buffer) => server.write(change(bytes, request)));
    server.on("data", (bytes: Buffer) => client.write(change(bytes, response)));
    client.on("end", () => server.end()).on("close", () => server.destroy());
    server.on("end", () => client.end()).on("close", () => client.destroy());
    client.on("error", () => server.destroy());
    server.on("error", () => client.destroy());
  };
  return openRawServer(carry, { allowHalfOpen: true });
}

it.each(faults)(
  "a server that %s breaks only the rules about it",
  async (_fault, fault, broken) => {
    const { operations = "create" } = fault;
    await using server = await startServer({ operations });
    const url = await startProxy(server.port, fault);
    const results = await runOnTestServer(listRules(operations), { url, timeoutMs: 10_000 });
    const failed = results.filter(({ problem }) => problem !== undefined);
    expect(failed.map(({ rule }) => rule.name)).toEqual(broken);
  },
);
