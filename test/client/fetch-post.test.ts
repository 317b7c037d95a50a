/** Requests with a function like the global `fetch` have the results and the errors of requests with node:http. */
import { getEventListeners } from "node:events";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { createFetchPost, type Fetch } from "../../src/client/fetch-post.ts";
import { NotAPlantStoreError, UnavailableError } from "../../src/client/results.ts";
import { findClosedUrl, json, openRawServer, openScriptedServer } from "./scripted-server.ts";

const plant = '{"name":"fern"}';
const timeoutMs = 10_000;

function post(url: string, fetch: Fetch = globalThis.fetch, options: object = {}) {
  return createFetchPost(fetch)({ url, headers: {}, body: "{}", timeoutMs, ...options });
}

it("sends the headers and the body, and returns the response", async () => {
  const { url, requests } = await openScriptedServer(json(400, plant, { "x-request-id": "a" }));
  const headers = { authorization: "Bearer a", "user-agent": "plantstore" };
  const body = '{"name":"mönstera 🌱"}';
  const response = await post(`${url}/plants`, fetch, { headers, body });
  expect(response).toMatchObject({ status: 400, headers: { "x-request-id": "a" } });
  expect(Buffer.from(response.body).toString()).toBe(plant);
  expect(requests).toMatchObject([{ method: "POST", path: "/plants", headers, body }]);
});

it("returns a redirect, which it does not follow", async () => {
  const { url, requests } = await openScriptedServer(json(307, "", { location: "/elsewhere" }));
  expect(await post(url)).toMatchObject({ status: 307, headers: { location: "/elsewhere" } });
  expect(requests).toHaveLength(1);
});

it("returns a compressed response decoded, without its coding", async () => {
  const { url } = await openScriptedServer((response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(plant));
  });
  const { headers, body } = await post(url);
  expect(headers["content-encoding"]).toBeUndefined();
  expect(Buffer.from(body).toString()).toBe(plant);
});

it("returns a response without a body", async () => {
  const response = await post("http://a", async () => new Response(null, { status: 204 }));
  expect(response).toMatchObject({ status: 204, body: { length: 0 } });
});

it("returns the body of a response without streams", async () => {
  const streamless = async (): Promise<Response> => {
    const response = new Response(plant, { headers: { "x-request-id": "a" } });
    const { status, headers } = response;
    const parts = { status, headers, arrayBuffer: () => response.arrayBuffer() };
    return parts as unknown as Response;
  };
  const { status, headers, body } = await post("http://a", streamless);
  expect({ status, id: headers["x-request-id"] }).toEqual({ status: 200, id: "a" });
  expect(Buffer.from(body).toString()).toBe(plant);
});

it("rejects a response that is too long", async () => {
  const chunk = new Uint8Array(1024 * 1024);
  let isCancelled = false;
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(chunk),
    cancel: () => void (isCancelled = true),
  });
  const headers = { "content-type": "application/json" };
  const response = post("http://a", async () => new Response(endless, { headers }));
  await expect(response).rejects.toThrow(NotAPlantStoreError);
  await expect(response).rejects.toThrow("a response of more than 65");
  expect(isCancelled).toBe(true);
});

it("cuts a response that is too long and not JSON", async () => {
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
  });
  const { status, body } = await post(
    "http://a",
    async () => new Response(endless, { status: 502 }),
  );
  expect(status).toBe(502);
  expect(body).toHaveLength(2 * 64 * 1024);
});

it.each<[what: string, reason: string, open: () => Promise<string>]>([
  ["nothing listens", "refused", findClosedUrl],
  ["the connection ends", "lost", () => openRawServer((socket) => socket.destroy())],
  [
    "the response is cut",
    "lost",
    () =>
      openRawServer((socket) =>
        socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")),
      ),
  ],
])("rejects with UnavailableError if %s", async (_what, reason, open) => {
  const error: unknown = await post(await open()).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UnavailableError);
  expect(error).toMatchObject({ reason });
});

it.each<[when: string, respond: (socket: Socket) => void]>([
  ["before the request", (socket) => void socket.write("220 mail.example.org\r\n")],
  ["after it", (socket) => socket.once("data", () => socket.end("220 mail.example.org\r\n"))],
])("rejects with NotAPlantStoreError if a response %s is not HTTP", async (_when, respond) => {
  await expect(post(await openRawServer(respond))).rejects.toThrow(NotAPlantStoreError);
});

it.each<[what: string, fetch: Fetch]>([
  ["a function that ignores signals", () => new Promise(() => {})],
  [
    "a function that heeds them",
    (_url, { signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  ],
  ["a body that never ends", async () => new Response(new ReadableStream())],
])("ends after its time limit with %s, and when its signal is aborted", async (_what, fetch) => {
  await expect(post("http://a", fetch, { timeoutMs: 20 })).rejects.toMatchObject({
    name: "UnavailableError",
    reason: "timeout",
    detail: "waited 0.02 s",
  });
  const controller = new AbortController();
  const reason = new Error("enough");
  const response = post("http://a", fetch, { signal: controller.signal });
  controller.abort(reason);
  await expect(response).rejects.toBe(reason);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

it("does not call the function if the signal is already aborted", async () => {
  const reason = new Error("enough");
  let calls = 0;
  const fetch: Fetch = async () => {
    calls++;
    return new Response(plant);
  };
  const response = post("http://a", fetch, { signal: AbortSignal.abort(reason) });
  await expect(response).rejects.toBe(reason);
  expect(calls).toBe(0);
});

it("rejects with UnavailableError for the error of a network, and with any other error itself", async () => {
  const bug = new RangeError("a bug");
  const reject = (error: Error) =>
    post("http://a", async () => {
      throw error;
    });
  await expect(reject(bug)).rejects.toBe(bug);
  for (const error of [
    new TypeError("Failed to fetch"),
    new DOMException("Failed to fetch", "NetworkError"),
    Object.assign(new Error("Failed to fetch"), { code: "ECONNRESET" }),
  ]) {
    await expect(reject(error)).rejects.toMatchObject({ reason: "lost", cause: error });
  }
});
