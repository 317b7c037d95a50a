/** The parser of responses: what it accepts. Hostile bytes would take it hours in cubic time. */
import { expect, it } from "vitest";
import { createResponseReader } from "./response.ts";

function read(head: string) {
  const reader = createResponseReader();
  reader.add(Buffer.from(`HTTP/1.1 204 No Content\r\n${head}\r\n\r\n`, "latin1"));
  return reader.read(false);
}

it.each([
  ["spaces before a line feed", `a:${" ".repeat(20_000)}\n`],
  ["spaces within a value that ends with a carriage return", `a: x${" ".repeat(20_000)}x \r`],
])("rejects a header line with %s in linear time", (_, line) => {
  expect(read(line).problem).toBe("a response has a malformed header line");
});

it("reads a header line with many spaces in linear time", () => {
  const value = `x${" ".repeat(60_000)}x`;
  expect(read(`A: \t${value} \t`).responses[0]?.headers).toEqual({ a: value });
});

it.each(["\0", "\u0001", "\n", "\v", "\u007f"])("rejects the character %j in a value", (each) => {
  expect(read(`a: x${each}x`).problem).toBe("a response has a malformed header line");
});
