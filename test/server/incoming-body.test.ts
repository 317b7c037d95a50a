/** Bodies in pieces: what the server holds of them, and what it counts. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { Admission } from "../../src/server/admission.ts";
import { type BodyResult, IncomingBody, requestIncomplete } from "../../src/server/request.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const limits = {
  maxBodyBytes: 2_000_000,
  maxInflight: 1,
  maxConnections: 1,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
};

function createTested(headers: Record<string, string> = {}, maxWaitingBytes?: number) {
  const admission = new Admission({ ...limits, ...(maxWaitingBytes && { maxWaitingBytes }) });
  const holder = { heldBytes: 0, isPage: false, evict: () => {} };
  return { admission, holder, body: new IncomingBody(holder, headers, admission) };
}

/** Reads a body. The result has an error, or the text of the body, and whether the read waited for it. */
async function read(body: IncomingBody, maxBytes = limits.maxBodyBytes) {
  return body.read(maxBytes, (result: BodyResult, isLate) =>
    result instanceof Uint8Array
      ? { text: Buffer.from(result).toString(), isLate }
      : { kind: result.kind, isLate },
  );
}

describe("a body in pieces", () => {
  it("of one byte takes its own length of memory, and not an object for each piece", async () => {
    const length = 1_000_000;
    const { admission, body } = createTested({ "content-length": `${length}` });
    const result = read(body);
    const before = process.memoryUsage();
    for (let count = 0; count < length; count++) body.add(Buffer.from("a"));
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    // Each piece would take about 400 bytes.
    expect(heapUsed - before.heapUsed).toBeLessThan(100 * length);
    expect(arrayBuffers - before.arrayBuffers).toBeLessThan(100 * length);
    expect(admission.load.waitingBytes).toBe(length);
    body.end();
    expect(await result).toEqual({ text: "a".repeat(length), isLate: true });
  });

  it.each([
    ["of a known length", { "content-length": "10" }, [1, 2, 4, 8, 8, 10, 10]],
    ["of an unknown length", {}, [1, 2, 4, 8, 8, 16, 16]],
  ])("%s is counted as it is held, in steps", async (_what, headers, counts) => {
    const { admission, holder, body } = createTested(headers);
    const result = read(body);
    const pieces = ["a", "b", "c", "de", "fgh", "i", "j"];
    const counted = pieces.map((piece) => {
      body.add(Buffer.from(piece));
      return admission.load.waitingBytes;
    });
    expect(counted).toEqual(counts);
    body.end();
    expect(await result).toEqual({ text: "abcdefghij", isLate: true });
    admission.release(holder);
    expect(admission.load.waitingBytes).toBe(0);
  });

  it("is rejected as soon as it is over its limit", async () => {
    const { body } = createTested();
    const result = read(body, 5);
    expect(body.add(Buffer.from("abcde"))).toBe(true);
    expect(body.add(Buffer.from("f"))).toBe(false);
    expect(await result).toMatchObject({ kind: "bodyTooLarge" });
  });

  it("is rejected if it does not fit in the memory of the server", async () => {
    const { body } = createTested({}, 5);
    const result = read(body);
    expect(body.add(Buffer.from("abc"))).toBe(true);
    expect(body.add(Buffer.from("def"))).toBe(false);
    expect(await result).toMatchObject({ kind: "overloaded" });
  });

  it("that is empty always fits", async () => {
    const { admission, body } = createTested({}, 5);
    const other = { heldBytes: 0, isPage: false, evict: () => {} };
    admission.holdResponse(other, 6);
    body.end();
    expect(await read(body)).toEqual({ text: "", isLate: false });
  });

  it("is counted from its read on, with the pieces that arrived before", async () => {
    const { admission, body } = createTested({ "content-length": "6" });
    body.add(Buffer.from("abc"));
    expect(admission.load.waitingBytes).toBe(0);
    const result = read(body);
    expect(admission.load.waitingBytes).toBe(3);
    body.add(Buffer.from("def"));
    body.end();
    expect(await result).toEqual({ text: "abcdef", isLate: true });
  });

  it("ends once: an error that follows, or further pieces, change nothing", async () => {
    const { body } = createTested();
    body.add(Buffer.from("abc"));
    body.end();
    body.end(requestIncomplete);
    expect(body.add(Buffer.from("def"))).toBe(false);
    expect(await read(body)).toEqual({ text: "abc", isLate: false });
  });

  it("that is given up before its read has the error as its result", async () => {
    const { admission, body } = createTested();
    body.add(Buffer.from("abc"));
    body.end(requestIncomplete);
    expect(await read(body)).toEqual({ kind: "malformedHttp", isLate: false });
    expect(admission.load.waitingBytes).toBe(0);
  });

  it("that is given up takes no memory while its client keeps the connection open", async () => {
    const length = 100_000;
    const bodies = Array.from({ length: 100 }, () => createTested().body);
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    const results = bodies.map(async (body) => {
      const result = read(body, length);
      body.add(Buffer.alloc(length));
      body.add(Buffer.alloc(1));
      return result;
    });
    expect(await Promise.all(results)).toMatchObject(bodies.map(() => ({ kind: "bodyTooLarge" })));
    const toKept = (): number => {
      collectGarbage();
      return (process.memoryUsage().arrayBuffers - before) / bodies.length;
    };
    await expect.poll(toKept).toBeLessThan(length / 10);
  });
});

it("keeps a body that arrives in one piece without a copy", async () => {
  const { body } = createTested({ "content-length": "5" });
  const piece = Buffer.from("whole");
  body.add(piece);
  body.end();
  const isSame = body.read(
    5,
    (result) => result instanceof Uint8Array && result.buffer === piece.buffer,
  );
  expect(await isSame).toBe(true);
});
