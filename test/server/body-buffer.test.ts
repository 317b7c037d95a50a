/** Bodies in pieces: what the server holds of them, and what it counts. */
import { describe, expect, it } from "vitest";
import { Admission } from "../../src/server/admission.ts";
import { BodyBuffer } from "../../src/server/request.ts";
import { RequestError } from "../../src/core/errors.ts";

const limits = {
  maxBodyBytes: 2_000_000,
  maxInflight: 1,
  maxConnections: 1,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
};

function createTested(headers: Record<string, string> = {}, maxBytes = limits.maxBodyBytes) {
  const admission = new Admission(limits);
  const holder = { heldBytes: 0, transferStartedAtMs: 0, evict: () => {} };
  return { admission, holder, body: new BodyBuffer(holder, headers, admission, maxBytes) };
}

describe("a body in pieces", () => {
  it("of one byte takes its own length of memory, and not an object for each piece", () => {
    const length = 1_000_000;
    const { admission, body } = createTested({ "content-length": `${length}` });
    const before = process.memoryUsage();
    for (let count = 0; count < length; count++) body.add(Buffer.from("a"));
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    // Each piece would take about 400 bytes.
    expect(heapUsed - before.heapUsed).toBeLessThan(100 * length);
    expect(arrayBuffers - before.arrayBuffers).toBeLessThan(100 * length);
    expect(admission.load.waitingBytes).toBe(length);
    expect(Buffer.from(body.end()).equals(Buffer.alloc(length, "a"))).toBe(true);
  });

  it.each([
    ["of a known length", { "content-length": "10" }, [1, 2, 4, 8, 8, 10, 10]],
    ["of an unknown length", {}, [1, 2, 4, 8, 8, 16, 16]],
  ])("%s is counted as it is held, in steps", (_what, headers, counts) => {
    const { admission, holder, body } = createTested(headers);
    const pieces = ["a", "b", "c", "de", "fgh", "i", "j"];
    const counted = pieces.map((piece) => {
      body.add(Buffer.from(piece));
      return admission.load.waitingBytes;
    });
    expect(counted).toEqual(counts);
    expect(Buffer.from(body.end()).toString()).toBe("abcdefghij");
    admission.release(holder);
    expect(admission.load.waitingBytes).toBe(0);
  });

  it("is rejected as soon as it is over its limit", () => {
    const { body } = createTested({}, 5);
    expect(body.add(Buffer.from("abcde"))).toBeUndefined();
    expect(body.add(Buffer.from("f"))).toMatchObject({ kind: "bodyTooLarge" });
  });

  it("is rejected if it does not fit in the memory of the server", () => {
    const admission = new Admission({ ...limits, maxWaitingBytes: 5 });
    const holder = { heldBytes: 0, transferStartedAtMs: 0, evict: () => {} };
    const body = new BodyBuffer(holder, {}, admission, 100);
    expect(body.add(Buffer.from("abc"))).toBeUndefined();
    const error = body.add(Buffer.from("def"));
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({ kind: "overloaded" });
  });
});

it("keeps a body that arrives in one piece without a copy", () => {
  const { body } = createTested({ "content-length": "5" });
  const piece = Buffer.from("whole");
  body.add(piece);
  expect(Buffer.from(body.end().buffer).equals(Buffer.from(piece.buffer))).toBe(true);
});
