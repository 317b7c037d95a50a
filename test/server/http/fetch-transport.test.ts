/** Requests without a socket: the same responses as over HTTP, and the streams and signals of fetch. */
import type { UnderlyingSource } from "node:stream/web";
import { beforeEach, describe, expect, it } from "vitest";
import { Faults } from "../../../src/server/faults.ts";
import { noFaults } from "../../helpers/no-faults.ts";
import { createHeldStore, startHeldServer } from "../../helpers/held-store.ts";
import { openServer, startServer, type TestServer, testToken } from "../../helpers/plant-server.ts";
import { startRecordedServer } from "../../helpers/recorded-server.ts";

const headers = { authorization: `Bearer ${testToken}`, "content-type": "application/json" };
const fern = '{"id":1,"name":"fern"}';
const url = "http://localhost/plants";

/** Headers about the connection, and headers that differ between two servers. */
const notCompared = ["connection", "keep-alive", "content-length", "date", "x-request-id"];

type Init = RequestInit & { readonly duplex?: "half" };

function create(body: string | ReadableStream = fern, init: Init = {}): Request {
  return new Request(url, { method: "POST", headers, body, duplex: "half", ...init });
}

async function numberOf(response: Response | Promise<Response>): Promise<number> {
  return ((await (await response).json()) as { error: number }).error;
}

/** A body that arrives in pieces, as often as it is pulled. */
class PulledBody {
  pulls = 0;
  cancelled: unknown[] = [];
  readonly stream: ReadableStream;

  /** @param pull returns a piece; undefined ends the body, and a promise delays it */
  constructor(pull: (count: number) => unknown) {
    const source: UnderlyingSource = {
      pull: async (controller) => {
        const piece = await pull(++this.pulls);
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel: (reason) => void this.cancelled.push(reason),
    };
    this.stream = new ReadableStream(source, { highWaterMark: 0 });
  }
}

const never = new Promise<undefined>(() => {});

describe("responds as over HTTP", () => {
  it.each<[request: string, path: string, init: RequestInit]>([
    ["a create", "/plants", { method: "POST", headers, body: fern }],
    ["a create without a token", "/plants", { method: "POST", body: fern }],
    ["a create without a body", "/plants", { method: "POST", headers }],
    ["another method", "/plants", { method: "PUT", headers, body: fern }],
    ["another path", "/other?secret", {}],
    ["the health", "/healthz", {}],
    ["the readiness", "/readyz", {}],
    ["the description", "/openapi.json", {}],
    ["the head of the description", "/openapi.json", { method: "HEAD" }],
    ["the page", "/docs", {}],
    ["the page at the root", "/", { headers: { accept: "text/html" } }],
    ["a target over the limit", `/plants?${"a".repeat(9000)}`, { method: "POST" }],
    ["headers over the limit", "/plants", { headers: { x: "a".repeat(17_000) } }],
  ])("to a request for %s", async (_request, path, init) => {
    const responses = await Promise.all(
      [true, false].map(async (isFetch) => {
        await using server = await startServer();
        const send = isFetch ? server.server.fetch : fetch;
        const response = await send(new URL(path, server.url), init);
        const sent = Object.fromEntries(response.headers);
        for (const name of notCompared) delete sent[name];
        const body = (await response.text()).replaceAll(new URL(server.url).host, "HOST");
        return { status: response.status, sent, body };
      }),
    );
    expect(responses[0]).toEqual(responses[1]);
  });

  it("with a length and an id of the request, and nothing about a connection", async () => {
    await using server = await startServer();
    const response = await server.server.fetch(create(fern));
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-length": "15",
      "x-plantstore-result": "created",
      "x-request-id": expect.any(String) as string,
    });
    expect(response.headers.has("connection")).toBe(false);
    expect(response.headers.has("keep-alive")).toBe(false);
  });

  it("to an expectation, which the global fetch cannot send", async () => {
    await using server = await startServer();
    const request = create(fern, { headers: { ...headers, expect: "cake" } });
    expect(await numberOf(server.server.fetch(request))).toBe(41700);
  });

  it("to the arguments of the global fetch", async () => {
    await using server = await startServer();
    const init = { method: "POST", headers, body: fern };
    for (const input of [url, new URL(url), new Request(url, { method: "PUT" })]) {
      expect((await server.server.fetch(input, init)).status).toBe(200);
    }
  });
});

it("serves under the name localhost if it must not listen", async () => {
  await using server = await startServer({ listen: false, basePath: "/v1" });
  expect(server.url).toBe("http://localhost/v1");
  const init = { method: "POST", headers, body: fern };
  expect((await server.server.fetch(`${server.url}/plants`, init)).status).toBe(200);
  const described = await server.server.fetch("http://localhost/openapi.json");
  expect(await described.json()).toMatchObject({ servers: [{ url: "http://localhost/v1" }] });
});

describe("reads a body", () => {
  it("that arrives in pieces", async () => {
    await using server = await startServer();
    const body = new PulledBody((count) => {
      return count > fern.length ? undefined : Buffer.from(fern.charAt(count - 1));
    });
    expect((await server.server.fetch(create(body.stream))).status).toBe(200);
    expect(await server.store.get(1n)).toEqual({ id: 1n, name: "fern" });
  });

  it("only up to the limit", async () => {
    await using server = await startServer({ maxBodyBytes: 100 });
    const body = new PulledBody(() => new Uint8Array(40));
    expect(await numberOf(server.server.fetch(create(body.stream)))).toBe(41300);
    expect(body).toMatchObject({ pulls: 3, cancelled: [] });
  });

  it("only after the credential was checked", async () => {
    await using server = await startServer();
    const body = new PulledBody(() => never);
    const request = create(body.stream, { headers: {} });
    expect(await numberOf(server.server.fetch(request))).toBe(40100);
    expect(body.pulls).toBe(0);
  });

  it("only until the request timeout", async () => {
    await using server = await startServer({ requestTimeoutMs: 20 });
    const body = new PulledBody(() => never);
    expect(await numberOf(server.server.fetch(create(body.stream)))).toBe(40800);
  });

  it("only within the limit of bytes in memory, and releases them afterwards", async () => {
    await using server = await startServer({ maxWaitingBytes: 100, maxBodyBytes: 100 });
    const body = new PulledBody((count) => (count === 1 ? new Uint8Array(90) : never));
    const first = server.server.fetch(create(body.stream));
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(90);
    expect(await numberOf(server.server.fetch(create()))).toBe(50301);
    await server.server.close(0);
    expect(await numberOf(first)).toBe(50300);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(0);
  });

  it("and rejects like fetch if the body was read before", async () => {
    await using server = await startServer();
    const request = create();
    await request.text();
    await expect(server.server.fetch(request)).rejects.toThrow(TypeError);
    const locked = create();
    locked.body?.getReader();
    await expect(server.server.fetch(locked)).rejects.toThrow(TypeError);
  });

  it("and rejects like fetch if its stream is locked before the server has started", async () => {
    await using server = await openServer();
    const request = create();
    const response = server.server.fetch(request);
    request.body?.getReader();
    server.start();
    await expect(response).rejects.toThrow(TypeError);
    expect(server.errors).toEqual([]);
  });

  it.each(["abc", "5", "500"])("whose Content-Length is %s, by its stream", async (length) => {
    await using server = await startServer();
    const sent = { ...headers, "content-length": length };
    expect((await server.server.fetch(create(fern, { headers: sent }))).status).toBe(200);
    await expect.poll(() => server.server.readLoad().waitingBytes).toBe(0);
  });

  it("and rejects like fetch if its stream fails", async () => {
    await using server = await startServer();
    const error = new Error("the disk is gone");
    const body = new PulledBody(() => Promise.reject(error));
    await expect(server.server.fetch(create(body.stream))).rejects.toBe(error);
    const text = new PulledBody(() => "text");
    await expect(server.server.fetch(create(text.stream))).rejects.toThrow(TypeError);
    expect(server.errors).toEqual([]);
  });
});

describe("rejects with the reason of an aborted signal", () => {
  const reason = new Error("enough");
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer();
    return () => server.close();
  });

  it("before the request is handled", async () => {
    const request = create(fern, { signal: AbortSignal.abort(reason) });
    await expect(server.server.fetch(request)).rejects.toBe(reason);
    expect(await server.store.list({ limit: 1 })).toEqual([]);
  });

  it("while the body arrives, and cancels its stream", async () => {
    const controller = new AbortController();
    const body = new PulledBody((count) => (count === 1 ? Buffer.from(fern) : never));
    const response = server.server.fetch(create(body.stream, { signal: controller.signal }));
    await expect.poll(() => body.pulls).toBe(2);
    controller.abort(reason);
    await expect(response).rejects.toBe(reason);
    expect(body.cancelled).toEqual([reason]);
    await server.server.close(0);
    expect(await server.store.list({ limit: 1 })).toEqual([]);
    expect(server.server.readLoad()).toMatchObject({ changes: 0, waitingBytes: 0 });
  });

  it("while the store commits the plant, which is stored", async () => {
    const { store, isWaiting, release } = createHeldStore();
    await using other = await startRecordedServer({ store });
    const controller = new AbortController();
    const response = other.server.fetch(create(fern, { signal: controller.signal }));
    await isWaiting(1);
    controller.abort(reason);
    await expect(response).rejects.toBe(reason);
    release("created");
    await expect
      .poll(() => other.records)
      .toMatchObject([{ path: "/plants", result: "created", isAborted: true }]);
  });

  it("only if it comes before the response", async () => {
    const controller = new AbortController();
    const response = await server.server.fetch(create(fern, { signal: controller.signal }));
    controller.abort(reason);
    expect(await response.text()).toBe('{"name":"fern"}');
  });
});

describe("stops", () => {
  it("after the responses in flight, and rejects later creates with 50300", async () => {
    await using server = await startHeldServer();
    const first = server.server.fetch(create());
    await server.held.isWaiting(1);
    const closed = server.server.close(60_000);
    expect(await numberOf(server.server.fetch(create()))).toBe(50300);
    server.held.release("created");
    expect((await first).status).toBe(200);
    await closed;
    const readiness = await server.server.fetch("http://localhost/readyz");
    expect(readiness.status).toBe(503);
    expect(await numberOf(readiness)).toBe(50300);
  });

  it("after it sent 50302 for changes in flight when the time is over", async () => {
    await using server = await startHeldServer();
    const first = server.server.fetch(create());
    await server.held.isWaiting(1);
    await server.server.close(20);
    const response = await first;
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await numberOf(response)).toBe(50302);
  });
});

it("reports each request like one over HTTP", async () => {
  await using server = await startRecordedServer();
  await server.server.fetch("http://localhost/healthz?secret", { method: "HEAD" });
  await server.server.fetch(create(fern, { headers: { ...headers, "x-request-id": "mine" } }));
  expect(server.records).toMatchObject([
    { method: "HEAD", path: "/healthz", operation: "health", status: 200, bytes: 0 },
    { method: "POST", operation: "create", bytes: 15, requestId: "mine", isAborted: false },
  ]);
});

it("rejects like fetch if the response is dropped on purpose", async () => {
  const faults = new Faults({ ...noFaults, dropRate: 1, seed: 0 });
  await using server = await startServer({ faults });
  await expect(server.server.fetch(create())).rejects.toThrow(TypeError);
  expect(await server.store.get(1n)).toEqual({ id: 1n, name: "fern" });
});

it("responds although the log throws", async () => {
  const bug = new Error("a bug in the log");
  const onResponse = (): void => {
    throw bug;
  };
  await using server = await startServer({ onResponse });
  expect((await server.server.fetch(create())).status).toBe(200);
  expect(server.errors).toEqual([bug]);
});
