/** The output of a log keeps the order of lines, joins them, and does not wait for its reader. */
import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { openLogOutput } from "../../../../src/cli/commands/serve/log-output.ts";

/** Creates a stream that accepts a second write only after its release. */
function createStuck() {
  const taken: string[] = [];
  let isFree = false;
  let resume = (): void => undefined;
  const stream = new Writable({
    write(bytes: Buffer, _encoding, done) {
      taken.push(bytes.toString());
      if (isFree) done();
      else resume = done;
    },
  });
  const release = (): void => {
    isFree = true;
    resume();
  };
  return { stream, taken, release };
}

it("lines of one turn are written together, in their order", async () => {
  const { stream, taken, release } = createStuck();
  release();
  const output = openLogOutput(stream, () => undefined);
  for (const line of ["a\n", "b\n", "c\n"]) output.write(line);
  await output.close();
  expect(taken.filter((text) => text !== "")).toEqual(["a\nb\nc\n"]);
});

it("a line that is longer than a batch, and lines around it, are complete", async () => {
  const { stream, taken, release } = createStuck();
  release();
  const output = openLogOutput(stream, () => undefined);
  const lines = ["a\n", `${"é€😀".repeat(50_000)}\n`, "b\n", `${"€".repeat(20_000)}\n`, "c\n"];
  for (const line of lines) output.write(line);
  await output.close();
  expect(taken.join("")).toBe(lines.join(""));
});

it("lines without room are dropped and counted, and memory is bounded", async () => {
  const { stream, taken, release } = createStuck();
  let told = 0;
  const output = openLogOutput(stream, (count) => {
    told = count;
    output.write(`${count} lost\n`);
  });
  const line = `${"a".repeat(1023)}\n`;
  for (let count = 0; count < 100_000; count++) output.write(line);
  expect(stream.writableLength).toBeLessThan(5_000_000);
  release();
  await expect.poll(() => stream.writableLength).toBe(0);
  output.write("after\n");
  await output.close();
  const text = taken.join("");
  expect(text.endsWith(`${told} lost\nafter\n`)).toBe(true);
  expect(text.split(line).length - 1 + told).toBe(100_000);
  expect(output.countDropped()).toBe(told);
});

it("an output without a reader closes in bounded time", async () => {
  const { stream } = createStuck();
  const output = openLogOutput(stream, () => undefined);
  output.write("a\n");
  await expect(output.close()).resolves.toBe(false);
});

it("an output whose stream failed accepts lines and closes", async () => {
  const { stream } = createStuck();
  stream.on("error", () => undefined).destroy(new Error("EPIPE"));
  const output = openLogOutput(stream, () => undefined);
  output.write("a\n");
  await expect(output.close()).resolves.toBe(true);
});
