/** Heads that repeat: which ones the fast lane remembers, for how long, and that it remembers no decision. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { digestToken } from "../../../src/auth/authenticator.ts";
import {
  createUsualRequestParser,
  type UsualRequestParser,
} from "../../../src/server/http/fast-lane.ts";
import { startServer } from "../../helpers/plant-server.ts";
import { openRawConnection } from "../../helpers/raw-http.ts";
import { toRawCreate } from "../../helpers/raw-request.ts";

function toHead(...lines: string[]): string {
  const all = ["POST /plants HTTP/1.1", "Host: a", ...lines, "Content-Length: 2"];
  return `${all.join("\r\n")}\r\n\r\n`;
}

const usual = toHead("Authorization: Bearer x");

/** Parses a request with a body of two bytes; its credential is accepted if it says so. */
function receive(parse: UsualRequestParser, head: string, isAccepted = true) {
  const request = parse(Buffer.from(`${head}{}`), 0);
  if (isAccepted) request?.checks.acceptCredential();
  return request;
}

/** Checks whether a head has the checks of an earlier request. */
function isKnown(parse: UsualRequestParser, head: string, earlier = receive(parse, head)): boolean {
  return receive(parse, head)?.checks === earlier?.checks;
}

describe("the parser remembers a head", () => {
  it("whose credential was accepted, and parses its bodies", () => {
    const parse = createUsualRequestParser("/plants", 100);
    const first = receive(parse, usual);
    const second = parse(Buffer.from(`${usual}[]${usual}`), 0);
    expect(second?.checks).toBe(first?.checks);
    expect([first?.body.toString(), second?.body.toString()]).toEqual(["{}", "[]"]);
    expect(second?.headers).toEqual(first?.headers);
    expect(parse(Buffer.from(`${usual}[`), 0)?.checks).toBe(first?.checks);
  });

  it("only after its credential was accepted", () => {
    const parse = createUsualRequestParser("/plants", 100);
    const rejected = receive(parse, usual, false);
    expect(isKnown(parse, usual, rejected)).toBe(false);
    expect(isKnown(parse, usual)).toBe(true);
  });

  it.each([
    "X-Request-Id: 1",
    "X-Correlation-Id: 1",
    "X-Amzn-Trace-Id: 1",
    "traceparent: 00-a-b-01",
    "tracestate: a=b",
  ])("but none with %s", (line) => {
    expect(isKnown(createUsualRequestParser("/plants", 100), toHead(line))).toBe(false);
  });

  it("that has the same bytes, and no other one", () => {
    const parse = createUsualRequestParser("/plants", 100);
    const first = receive(parse, usual);
    for (const head of [usual.replace("Bearer x", "Bearer y"), usual.toLowerCase()]) {
      expect(isKnown(parse, head, first)).toBe(false);
    }
  });

  it("for at most a minute, because it contains a token", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const parse = createUsualRequestParser("/plants", 100);
    const first = receive(parse, usual);
    vi.advanceTimersByTime(59_999);
    expect(isKnown(parse, usual, first)).toBe(true);
    vi.advanceTimersByTime(1);
    expect(isKnown(parse, usual, first)).toBe(false);
  });

  it.each([
    ["a thousand others", 1000, ""],
    ["a megabyte of others", 300, "a".repeat(3900)],
  ])("only until it has seen %s", (_what, count, text) => {
    const parse = createUsualRequestParser("/plants", 100);
    const first = receive(parse, usual);
    for (let n = 0; n < count; n++) {
      if (n === 200) expect(isKnown(parse, usual, first)).toBe(true);
      receive(parse, toHead(`X-Forwarded-For: ${n}${text}`));
    }
    expect(isKnown(parse, usual, first)).toBe(false);
  });
});

it("checks the token of each request, although its head is known", async () => {
  await using server = await startServer({ fastLane: true });
  const record = { prefix: "", name: "", issuedAtMs: 0 };
  const tokens = { revoked: digestToken("revoked"), expired: digestToken("expired") };
  for (const digest of Object.values(tokens)) await server.store.addToken({ digest, ...record });
  using connection = await openRawConnection(server.port);
  let count = 0;
  const send = async (token: string): Promise<string | undefined> => {
    connection.socket.write(toRawCreate(1, "fern", { token }));
    return (await connection.responses(++count)).at(-1)?.body;
  };
  for (let round = 0; round < 3; round++) {
    for (const token of Object.keys(tokens)) expect(await send(token)).toBe('{"name":"fern"}');
  }
  await server.store.endToken({ digest: tokens.revoked, revokedAtMs: Date.now() });
  await server.store.endToken({ digest: tokens.expired, expiresAtMs: Date.now() });
  await expect.poll(() => send("revoked")).toContain("40102");
  await expect.poll(() => send("expired")).toContain("40103");
});
