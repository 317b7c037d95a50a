/** Objects that Node makes are of another realm in the vm contexts of Jest and vitest, where `instanceof` is false for them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { isBuiltIn, isError } from "../../src/core/messages.ts";

const src = fileURLToPath(new URL("../../src", import.meta.url));
const builtIn =
  /instanceof (?:Error|AggregateError|TypeError|RangeError|SyntaxError|DOMException|AbortSignal|Uint8Array|Buffer|URL)\b/g;

it("src asks isError or isBuiltIn, instead of instanceof with a class of Node", () => {
  const paths = readdirSync(src, { recursive: true, encoding: "utf8" });
  const sources = paths.filter((path) => path.endsWith(".ts"));
  const found = sources.flatMap((path) =>
    (readFileSync(join(src, path), "utf8").match(builtIn) ?? []).map((text) => [path, text]),
  );
  expect(sources.length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});

it.each([
  ["new Error('')", true],
  ["new TypeError('')", true],
  ["({ message: '' })", false],
  ["'Error'", false],
])("recognizes %s of another realm: %s", (code, expected) => {
  const value: unknown = runInNewContext(code);
  expect(value instanceof Error).toBe(false);
  expect(isError(value)).toBe(expected);
});

it("recognizes a DOMException, which Node throws for an abort", () => {
  expect(isError(AbortSignal.abort().reason)).toBe(true);
  expect(isBuiltIn(new AbortController().signal, "AbortSignal")).toBe(true);
});
