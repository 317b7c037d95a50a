/** Requests of pages of other origins (CORS). test/ecosystem/cors.test.ts sends them in a browser. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer, testToken } from "../helpers/plant-server.ts";

const page = "https://app.example.org";
const exposed = "X-Plantstore-Result, X-Request-Id, Retry-After, WWW-Authenticate";

/** Sends a request like a page of an origin. Returns the response and its headers about CORS. */
async function ask(
  server: TestServer,
  path: string,
  origin: string | undefined,
  init: RequestInit,
) {
  const headers = { ...(init.headers as Record<string, string>), ...(origin && { origin }) };
  const response = await server.fetch(new URL(path, server.url), { ...init, headers });
  const all = [...response.headers].filter(([name]) =>
    /^access-control-|^vary$|^allow$/.test(name),
  );
  return { response, status: response.status, headers: Object.fromEntries(all) };
}

const preflight = {
  method: "OPTIONS",
  headers: {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
  },
};
const create = {
  method: "POST",
  headers: { authorization: `Bearer ${testToken}`, "content-type": "application/json" },
  body: '{"id":1,"name":"fern"}',
};

describe("a server without configured origins", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());

  it("rejects a preflight with 405 and the allowed methods", async () => {
    const { status, headers } = await ask(server, "/plants", page, preflight);
    expect([status, headers]).toEqual([405, { allow: "POST" }]);
  });

  it("sends no header about CORS", async () => {
    expect((await ask(server, "/plants", page, create)).headers).toEqual({});
    expect((await ask(server, "/openapi.json", page, {})).headers).toEqual({});
  });
});

describe("a server with configured origins", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ basePath: "/v1", corsOrigins: ["http://a.example:81", page] });
  });
  afterAll(() => server.close());

  it.each([
    ["/v1/plants", "POST, OPTIONS"],
    ["/openapi.json", "GET, HEAD, OPTIONS"],
    ["/healthz", "GET, HEAD, OPTIONS"],
    ["/docs", "GET, HEAD, OPTIONS"],
  ])("responds to a preflight of %s with 204 and allows %s", async (path, methods) => {
    const { response, status, headers } = await ask(server, path, page, preflight);
    expect(status).toBe(204);
    expect(headers).toEqual({
      allow: methods,
      "access-control-allow-origin": page,
      "access-control-allow-methods": methods,
      "access-control-allow-headers":
        "Authorization, Content-Type, X-Request-Id, Traceparent, Tracestate, Baggage, Sentry-Trace",
      "access-control-max-age": "7200",
      vary: "Origin",
    });
    expect(response.headers.has("content-length")).toBe(false);
    expect(response.headers.has("content-type")).toBe(false);
    expect(response.headers.get("x-request-id")).not.toBeNull();
  });

  it("keeps the connection open after a preflight", async () => {
    for (let id = 1; id <= 3; id++) {
      expect((await ask(server, "/v1/plants", page, preflight)).status).toBe(204);
      expect((await ask(server, "/v1/plants", page, create)).status).toBe(200);
    }
  });

  it.each<[what: string, path: string, init: RequestInit, status: number]>([
    ["a Plant", "/v1/plants", create, 200],
    ["an Error of the body", "/v1/plants", { ...create, body: "{" }, 400],
    ["an Error of the token", "/v1/plants", { method: "POST" }, 400],
    ["an Error for an unknown path", "/plants", create, 404],
    ["an Error for an unknown method", "/v1/plants", { method: "PUT" }, 405],
    ["an Error for OPTIONS of an unknown path", "/plants", preflight, 404],
    ["the interface description", "/openapi.json", {}, 200],
    ["the headers of the interface description", "/openapi.json", { method: "HEAD" }, 200],
  ])("lets pages read %s", async (_what, path, init, status) => {
    const received = await ask(server, path, page, init);
    expect(received.status).toBe(status);
    expect(received.headers).toMatchObject({
      "access-control-allow-origin": page,
      "access-control-expose-headers": exposed,
      vary: "Origin",
    });
    expect(received.headers).not.toHaveProperty("access-control-allow-credentials");
  });

  it("names the origin of the request in its response", async () => {
    const { headers } = await ask(server, "/v1/plants", "http://a.example:81", create);
    expect(headers["access-control-allow-origin"]).toBe("http://a.example:81");
  });

  it.each([
    ["another origin", "https://evil.example"],
    ["an origin with another scheme", "http://app.example.org"],
    ["an origin with another port", "https://app.example.org:8443"],
    ["an origin that begins the same", "https://app.example.org.evil.example"],
    ["an opaque origin", "null"],
    ["a request without an origin", undefined],
  ])("allows nothing to %s, and sends Vary for caches", async (_which, origin) => {
    const asked = await ask(server, "/v1/plants", origin, preflight);
    expect([asked.status, asked.headers]).toEqual([
      204,
      { allow: "POST, OPTIONS", vary: "Origin" },
    ]);
    expect((await ask(server, "/v1/plants", origin, create)).headers).toEqual({ vary: "Origin" });
  });
});

it("has the same response for all origins if * is configured", async () => {
  await using server = await startServer({ corsOrigins: ["*"] });
  for (const origin of [page, "null", undefined]) {
    const asked = await ask(server, "/plants", origin, preflight);
    expect([asked.status, asked.headers["access-control-allow-origin"]]).toEqual([204, "*"]);
    expect((await ask(server, "/plants", origin, create)).headers).toEqual({
      "access-control-allow-origin": "*",
      "access-control-expose-headers": exposed,
    });
  }
});
