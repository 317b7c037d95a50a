import { describe, expect, it } from "vitest";
import { RequestError } from "../../src/core/errors.ts";
import { readNewPlant } from "../../src/core/read-plant.ts";
import { locateError } from "../../src/records/located-error.ts";
import { JsonReader } from "../../src/records/json-reader.ts";

/** Returns the messages of invalid records, with their places. */
function messagesOf(input: string | Uint8Array): string[] {
  const reader = new JsonReader(1000);
  const records = [...reader.push(Buffer.from(input)), ...reader.end()];
  return records.flatMap((record) => {
    const { plant } = record.content;
    return plant instanceof RequestError ? [locateError(plant, record, "p.json").message] : [];
  });
}

const plant = '{"id":1,"name":"é🌱"}';
const name = "invalid JSON: expected a member name in quotes but found";

describe("a message about JSON names the line and the column", () => {
  it.each<[where: string, input: string | Uint8Array, message: string]>([
    [
      "on a later line",
      '{\n "id": 1,\n "name": \n}',
      'expected a value but found "}" (p.json:4:1)',
    ],
    ["at the end", '{"id":1,', `${name} the end (p.json:1:9)`],
    ["after characters of several bytes", '{"name":"é🌱" 1}', '"}" but found "1" (p.json:1:14)'],
    ["after a byte order mark", '\uFEFF{"id":1;}', '"}" but found ";" (p.json:1:8)'],
    ["in an array", `[${plant},\n  {"id" 2}]`, '":" but found "2" (p.json:2:9)'],
    ["after a record on the same line", `[${plant}, {"id" 2}]`, '":" but found "2" (p.json:1:30)'],
    ["on a line of its own", `${plant}\n${plant} {"id" 2}`, '":" but found "2" (p.json:2:28)'],
    ["of invalid UTF-8", Buffer.from('{\n"é":1}', "latin1"), "invalid UTF-8 (p.json:2:2): encode"],
    ["of a value that is too deep", `{\n"a":${"[".repeat(64)}`, "deeply (p.json:2:68): use at"],
    [
      "with the lines that it takes",
      '{\n"id": "1\n}\n{"id":2,"name":"a"}',
      '"\\u000a" (p.json:2:9) (lines 1 to 3)',
    ],
  ])("%s", (_where, input, message) => {
    expect(messagesOf(input)).toEqual([expect.stringContaining(message)]);
  });
});

describe("a message about JSON says how to fix", () => {
  it.each([
    ["a comma at the end of an object", '{"id":1,\n}', ": remove the comma before it"],
    ["a comma after an object", '{"id":1,"name":"a"},', ": remove it"],
    ["a comma at the end of an array", '{"id":1,"x":[2, ]}', ": remove the comma before it"],
    ["a comment", '{"id":1, // the first\n}', ": remove the comment, because JSON has none"],
    [
      "a comment on several lines",
      '{"id":/* 1 */ 2}',
      ": remove the comment, because JSON has none",
    ],
    ["a line of a script", "# plants", ": remove the comment, because JSON has none"],
    ["single quotes", "{'id':1}", ': use double quotes (")'],
    ["typographic quotes", '{"id":1,"name":“fern”}', ': use double quotes (")'],
    ["a name without quotes", "{id:1}", ": put the name in double quotes"],
    ["a text without quotes", '{"id":1,"name":fern}', ": put text in double quotes"],
    ["None", '{"id":1,"name":None}', ": leave the member out, because JSON has no None"],
    ["NaN", '{"id":NaN,"name":"a"}', ": leave the member out, because JSON has no NaN"],
    ["-Infinity", '{"id":-Infinity}', ": leave the member out, because JSON has no -Infinity"],
    ["True", '{"id":1,"name":True}', ": write it in lower case"],
    ["a text that begins as None", '{"id":1,"name":Nonette}', ": put text in double quotes"],
  ])("%s", (_mistake, input, advice) => {
    const [message = ""] = messagesOf(input);
    expect(message.replace(/^[^(]+\(p\.json:\d+:\d+\)/, "")).toBe(advice);
  });

  it("nothing that is not a common mistake", () => {
    expect(messagesOf("id: 1")).toEqual([expect.stringMatching(/found "i" \(p\.json:1:1\)$/)]);
    expect(messagesOf('{"id":1,"a"}')).toEqual([expect.stringMatching(/ \(p\.json:1:12\)$/)]);
  });
});

it("the message of the service names the byte", () => {
  const body = Buffer.from('{"id":1,\n}');
  expect(readNewPlant(body)).toMatchObject({ message: `${name} "}" at byte 9` });
});
