import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { NotAPlantStoreError, UnavailableError } from "../../src/client/results.ts";
import {
  type Retry,
  sendPlant,
  type SendPlantOptions,
  toCreateRequest,
} from "../../src/client/create-plant.ts";
import { post } from "../../src/client/http-request.ts";
import { toNewPlantJson } from "../../src/core/plant.ts";
import { createCertificate } from "../helpers/certificate.ts";
import {
  errorResponse,
  findClosedUrl,
  json,
  openRawServer,
  openScriptedServer,
  openTlsServer,
  type Responder,
} from "./scripted-server.ts";

const fern = { id: 9223372036854775807n, name: "fern", tag: "pot" };
const created = json(200, '{"name":"fern","tag":"pot"}', { "x-plantstore-result": "created" });
const success = { ok: true, plant: { name: "fern", tag: "pot" } };
const silence = (): void => {};
const disconnect = (response: ServerResponse): void => void response.destroy();

const common = { timeoutMs: 10_000, retries: 0, post };

function create(baseUrl: string, options: Partial<SendPlantOptions> = {}) {
  const request = toCreateRequest(baseUrl, "secret");
  return sendPlant(toNewPlantJson(fern), { ...common, request, ...options });
}

/** Expects that a create fails without a response of a plant store. */
async function expectUnavailable(sent: Promise<unknown>, reason: string, more: object = {}) {
  await expect(sent).rejects.toBeInstanceOf(UnavailableError);
  await expect(sent).rejects.toMatchObject({ name: "UnavailableError", reason, ...more });
}

/** Expects that a create fails because the server is not a plant store. */
async function expectNotAPlantStore(sent: Promise<unknown>, message: string): Promise<void> {
  await expect(sent).rejects.toBeInstanceOf(NotAPlantStoreError);
  await expect(sent).rejects.toThrow(message);
}

describe("a create", () => {
  it("sends exactly the plant, with the token, to /plants below the base URL", async () => {
    const { url, requests } = await openScriptedServer(created);
    await create(`${url}/v1`);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      method: "POST",
      path: "/v1/plants",
      body: '{"id":9223372036854775807,"name":"fern","tag":"pot"}',
      headers: {
        authorization: "Bearer secret",
        "content-type": "application/json",
        accept: "application/json",
        "accept-encoding": "identity",
        "user-agent": `plantstore/${manifest.version}`,
      },
    });
  });

  it("returns the Plant and the result", async () => {
    const { url } = await openScriptedServer(created);
    expect(await create(url)).toEqual({ ...success, result: "created" });
  });

  it("returns the Error", async () => {
    const { url } = await openScriptedServer(errorResponse(40900));
    const error = { error: 40900, message: "message of 40900" };
    expect(await create(url)).toEqual({ ok: false, error, attempts: 1 });
  });

  it("truncates the message and the request id to the 1,000 bytes of the contract", async () => {
    const body = JSON.stringify({ error: 42200, message: `secret ${"ö".repeat(20_000)}` });
    const { url } = await openScriptedServer(json(400, body, { "x-request-id": "i".repeat(9000) }));
    const { error, requestId } = await create(url);
    expect(error?.message).toBe(`[token] ${"ö".repeat(494)}…`);
    expect(requestId).toBe(`${"i".repeat(997)}…`);
  });

  it("removes the token from a message before it is truncated", async () => {
    const message = "x".repeat(995) + "secret";
    const { url } = await openScriptedServer(json(400, JSON.stringify({ error: 1, message })));
    expect((await create(url)).error?.message).toBe(`${"x".repeat(995)}[t…`);
  });

  it("keeps a message whole if the token is a few characters long", async () => {
    const { url } = await openScriptedServer(json(400, `{"error":1,"message":"the token"}`));
    const outcome = await sendPlant("{}", { ...common, request: toCreateRequest(url, "e") });
    expect(outcome).toMatchObject({ error: { message: "the token" } });
  });
});

describe("a failed attempt", () => {
  it.each([40800, 50300, 50301, 50700])(
    "is retried with the same body after error %i",
    async (error) => {
      const { url, requests } = await openScriptedServer(errorResponse(error), created);
      expect(await create(url, { retries: 1 })).toMatchObject(success);
      expect(requests[1]).toEqual(requests[0]);
    },
  );

  it.each<[what: string, respond: Responder]>([
    ["a lost connection", disconnect],
    [
      "half a response",
      (response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": 100 });
        response.write('{"name":"f', () => response.destroy());
      },
    ],
  ])("is retried after %s", async (_what, respond) => {
    const { url, requests } = await openScriptedServer(respond, created);
    expect(await create(url, { retries: 1 })).toMatchObject(success);
    expect(requests).toHaveLength(2);
  });

  it("is retried after a timeout", async () => {
    const { url } = await openScriptedServer(created);
    const silentUrl = await openRawServer(silence);
    // Only the first attempt has a short timeout: the second one succeeds, however long it takes.
    let attempts = 0;
    const outcome = await create(url, {
      retries: 1,
      post: (request) =>
        post(++attempts === 1 ? { ...request, url: silentUrl, timeoutMs: 100 } : request),
    });
    expect(outcome).toMatchObject(success);
    expect(attempts).toBe(2);
  });

  it.each([40001, 40100, 40102, 40400, 40900, 41300, 42201, 50000])(
    "is not retried after error %i",
    async (error) => {
      const { url, requests } = await openScriptedServer(errorResponse(error), created);
      expect(await create(url, { retries: 5 })).toMatchObject({ ok: false, attempts: 1 });
      expect(requests).toHaveLength(1);
    },
  );

  it.each([408, 429, 502, 503, 504])(
    "is retried after status %i of a proxy, whatever its body is",
    async (status) => {
      const unavailable = json(status, "<h1>", { "content-type": "text/html", "retry-after": "1" });
      const { url, requests } = await openScriptedServer(unavailable, created);
      const retries: Retry[] = [];
      const outcome = await create(url, { retries: 1, onRetry: (retry) => retries.push(retry) });
      expect(outcome).toMatchObject(success);
      expect(requests[1]).toEqual(requests[0]);
      const failure = { reason: "gateway", detail: `status ${status}` };
      expect(retries).toMatchObject([{ attempt: 1, delayMs: 1000, failure }]);
    },
  );

  it.each([201, 404, 500, 501])("is not retried after status %i", async (status) => {
    const { url, requests } = await openScriptedServer(json(status, "{}"), created);
    await expectNotAPlantStore(create(url, { retries: 5 }), `(HTTP ${status}, `);
    expect(requests).toHaveLength(1);
  });

  it("is retried as often as allowed, and the last Error is returned", async () => {
    const { url, requests } = await openScriptedServer(errorResponse(50301), errorResponse(50300));
    const outcome = await create(url, { retries: 2 });
    expect(outcome).toMatchObject({ ok: false, error: { error: 50300 }, attempts: 3 });
    expect(requests).toHaveLength(3);
  });

  it("is retried at once, as often as allowed, if the server asks for no delay", async () => {
    const { url, requests } = await openScriptedServer(
      errorResponse(50301, { "retry-after": "0" }),
    );
    const retries: Retry[] = [];
    const outcome = await create(url, { retries: 3, onRetry: (retry) => retries.push(retry) });
    expect(outcome).toMatchObject({ ok: false, error: { error: 50301 }, attempts: 4 });
    expect(requests).toHaveLength(4);
    expect(retries.map(({ delayMs }) => delayMs)).toEqual([0, 0, 0]);
  });
});

describe("a server that asks to wait longer than a minute", () => {
  it.each(["61", "3600", new Date(Date.now() + 600_000).toUTCString()])(
    "ends the attempts: Retry-After: %s",
    async (retryAfter) => {
      const busy = errorResponse(50301, { "retry-after": retryAfter });
      const { url, requests } = await openScriptedServer(busy, created);
      const outcome = await create(url, { retries: 5 });
      expect(outcome).toMatchObject({ ok: false, error: { error: 50301 }, attempts: 1 });
      expect(outcome.ok ? 0 : outcome.retryAfterS).toBeGreaterThan(60);
      expect(requests).toHaveLength(1);
    },
  );

  it("is named in the message if it is a proxy", async () => {
    const { url, requests } = await openScriptedServer(json(503, "", { "retry-after": "3600" }));
    await expectUnavailable(create(url, { retries: 5 }), "gateway", {
      message: `a proxy at ${url} responded instead of the plant store (status 503; it asks to wait 3600 s)`,
      retryAfterS: 3600,
    });
    expect(requests).toHaveLength(1);
  });
});

describe("a create without a response of the plant store", () => {
  it("fails with the reason gateway if only a proxy responds, and names the URL and the attempts", async () => {
    const { url } = await openScriptedServer(json(502, ""));
    await expectUnavailable(create(url, { retries: 1 }), "gateway", {
      message: `a proxy at ${url} responded instead of the plant store after 2 attempts (status 502)`,
    });
  });

  it("fails with the reason refused if no server listens", async () => {
    const url = await findClosedUrl();
    await expectUnavailable(create(url, { retries: 1 }), "refused", {
      url: `${url}/plants`,
      attempts: 2,
      cause: { code: "ECONNREFUSED" },
    });
  });

  it("fails with the reason unknownHost if the host does not exist", async () => {
    await expectUnavailable(create("http://plantstore.invalid"), "unknownHost");
  });

  it("fails with the reason insecure if the server does not use TLS", async () => {
    const url = await openRawServer((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    });
    const secureUrl = url.replace("http:", "https:");
    await expectUnavailable(create(secureUrl), "insecure", {
      message: `no secure connection to ${secureUrl}: this is a port without TLS: try ${url}`,
    });
  });

  it("fails with the reason insecure and one line if the server uses another version of TLS", async () => {
    const url = await openTlsServer({
      ...createCertificate("127.0.0.1"),
      minVersion: "TLSv1",
      maxVersion: "TLSv1.1",
      ciphers: "ALL:@SECLEVEL=0",
    });
    await expectUnavailable(create(url), "insecure", { detail: "tlsv1 alert protocol version" });
  });

  it.each<[reason: string, condition: string, respond: (response: ServerResponse) => void]>([
    ["timeout", "no byte arrives", silence],
    ["timeout", "only the headers arrive", (response) => response.writeHead(200).flushHeaders()],
    [
      "timeout",
      "the body never ends",
      (response) => {
        const timer = setInterval(() => response.write(" "), 20);
        response.on("close", () => clearInterval(timer));
      },
    ],
    ["lost", "the connection ends", disconnect],
    [
      "lost",
      "the response ends early",
      (response) => {
        response.writeHead(200, { "content-length": 10 });
        response.write("{", () => response.destroy());
      },
    ],
    [
      "lost",
      "the last chunk is missing",
      (response) => void response.write("{", () => response.destroy()),
    ],
  ])("fails with the reason %s if %s", async (reason, _condition, respond) => {
    const { url } = await openScriptedServer(respond);
    const timeoutMs = reason === "timeout" ? 200 : common.timeoutMs;
    await expectUnavailable(create(url, { timeoutMs }), reason);
  });

  it("fails with the reason timeout if the TLS handshake does not end", async () => {
    const url = await openRawServer(silence);
    const secureUrl = url.replace("http:", "https:");
    await expectUnavailable(create(secureUrl, { timeoutMs: 200 }), "timeout");
  });
});

describe("a response that no plant store sends", () => {
  it.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["a header without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
    ["endless headers", `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(100_000)}`],
  ])("is reported as not HTTP: %s", async (_what, bytes) => {
    const url = await openRawServer((socket) => socket.once("data", () => socket.write(bytes)));
    await expectNotAPlantStore(create(url), "no HTTP response");
  });

  it.each<[status: number, type: string, problem: string]>([
    [200, "application/json", "a response of more than 65"],
    [200, "text/html", "HTTP 200, text/html"],
    [400, "application/json", "HTTP 400, JSON without an Error"],
    [501, "text/html", "HTTP 501, text/html"],
  ])("is not read to its end: status %d, %s", async (status, type, problem) => {
    const piece = Buffer.alloc(1024 * 1024, " ");
    let sent = 0;
    const { url } = await openScriptedServer((response) => {
      response.writeHead(status, { "content-type": type });
      const send = (): void => {
        while (!response.destroyed && response.write(piece)) sent += piece.length;
      };
      response.on("drain", send);
      send();
    });
    await expectNotAPlantStore(create(url), `${url}/plants is not a plant store (${problem}`);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it("is unavailable, if it is a long page of a gateway", async () => {
    const { url } = await openScriptedServer((response) => {
      response.writeHead(502, { "content-type": "text/html" });
      response.end("x".repeat(1024 * 1024));
    });
    await expectUnavailable(create(url), "gateway");
  });

  it("is read to the end if it is a Plant whose JSON is as long as it can be", async () => {
    const name = "a".repeat(1024 * 1024);
    const escaped = String.raw`\u0061`.repeat(name.length);
    const { url } = await openScriptedServer(json(200, `{"name":"${escaped}"}`));
    const result = await sendPlant(JSON.stringify({ id: 1, name }), {
      request: toCreateRequest(url, "token"),
      timeoutMs: 10_000,
      retries: 0,
      post,
    });
    expect(result).toMatchObject({ ok: true, plant: { name } });
  });

  it("is not followed if it is a redirect, and the token goes to no other server", async () => {
    const elsewhere = await openScriptedServer(created);
    const { url } = await openScriptedServer(json(307, "", { location: elsewhere.url }));
    await expectNotAPlantStore(create(url), "redirects are not followed");
    expect(elsewhere.requests).toEqual([]);
  });
});

describe("aborting the signal", () => {
  const enough = new Error("enough");

  it("ends a request, rejects with its reason, and closes the connection", async () => {
    const stop = new AbortController();
    let closed: Promise<unknown> | undefined;
    const { url } = await openScriptedServer((response) => {
      closed = once(response, "close");
      stop.abort(enough);
    });
    const sent = create(url, { signal: stop.signal, retries: 2 });
    await expect(sent).rejects.toBe(enough);
    await closed;
  });

  it("ends a connection that is not open yet", async () => {
    const stop = new AbortController();
    let closed: Promise<unknown> | undefined;
    const url = await openRawServer((socket) => {
      closed = once(socket.resume(), "close");
      stop.abort(enough);
    });
    const sent = create(url.replace("http:", "https:"), { signal: stop.signal, retries: 2 });
    await expect(sent).rejects.toBe(enough);
    await closed;
  });

  it("ends the pause before the next attempt", async () => {
    const stop = new AbortController();
    const busy = errorResponse(50301, { "retry-after": "60" });
    const { url, requests } = await openScriptedServer(busy);
    const onRetry = (): void => stop.abort(enough);
    const sent = create(url, { signal: stop.signal, retries: 1, onRetry });
    await expect(sent).rejects.toBe(enough);
    expect(requests).toHaveLength(1);
  });
});

describe("the last call", () => {
  it("ends the pause before the next attempt, and returns the outcome of the last attempt", async () => {
    const stopSending = new AbortController();
    const busy = errorResponse(50301, { "retry-after": "60" });
    const { url, requests } = await openScriptedServer(busy);
    const onRetry = (): void => stopSending.abort();
    const outcome = await create(url, { stopSending: stopSending.signal, retries: 1, onRetry });
    expect(outcome).toMatchObject({ ok: false, error: { error: 50301 }, attempts: 1 });
    expect(requests).toHaveLength(1);
  });

  it("does not end a request in flight", async () => {
    const stopSending = new AbortController();
    const { url } = await openScriptedServer((response) => {
      stopSending.abort();
      created(response);
    });
    expect(await create(url, { stopSending: stopSending.signal })).toMatchObject(success);
  });
});
