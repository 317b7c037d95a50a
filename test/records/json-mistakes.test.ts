import { expect, it, describe } from "vitest";
import { readNewPlant } from "../../src/core/read-plant.ts";
import { createRecordReader } from "../../src/records/json-reader.ts";

/** Returns the message of an input that is not JSON. */
function messageOf(input: string): string {
  const source = { path: "p.json", maxBytes: 1000 };
  const reader = createRecordReader(source);
  try {
    const records = [...reader.push(Buffer.from(input)), ...reader.end()];
    return `${records.length} records`;
  } catch (error) {
    return (error as Error).message;
  }
}

const name = "invalid JSON: expected a member name in quotes but found";

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
    expect(messageOf(input).replace(/^[^(]+\(p\.json:\d+:\d+\)/, "")).toBe(advice);
  });

  it("nothing that is not a common mistake", () => {
    expect(messageOf("id: 1")).toMatch(/found "i" \(p\.json:1:1\)$/);
    expect(messageOf('{"id":1,"a"}')).toMatch(/ \(p\.json:1:12\)$/);
  });
});

it("the message of the service names the byte", () => {
  const body = Buffer.from('{"id":1,\n}');
  expect(readNewPlant(body)).toMatchObject({ message: `${name} "}" at byte 9` });
});
