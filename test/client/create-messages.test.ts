import { describe, expect, it } from "vitest";
import { parseResponse, toCreateRequest } from "../../src/client/create-plant.ts";
import { NotAPlantStoreError } from "../../src/client/results.ts";
import type { ClientResponse } from "../../src/client/http-request.ts";

const request = toCreateRequest("http://127.0.0.1:7526", "secret-token");
const jsonType = { "content-type": "application/json" };

function toResponse(status: number, body: string, headers: ClientResponse["headers"] = jsonType) {
  return { status, headers, body: new TextEncoder().encode(body) };
}

describe("parseResponse reads", () => {
  it.each([
    ["a Plant", '{"name":"fern"}', { name: "fern" }],
    ["a Plant with a tag", '{"name":"","tag":"\\u0000"}', { name: "", tag: "\u0000" }],
    ["a Plant with members of a later version", '{"name":"fern","id":1}', { name: "fern" }],
  ])("a response with status 200 and %s", (_what, body, plant) => {
    expect(parseResponse(toResponse(200, body), request)).toMatchObject({ ok: true, plant });
  });

  it("a response with status 400 and an Error", () => {
    const body = '{"error":40900,"message":"taken"}';
    const error = { error: 40900, message: "taken" };
    expect(parseResponse(toResponse(400, body), request)).toEqual({ ok: false, error });
  });

  it.each([
    [401, 40102],
    [413, 41300],
    [404, 40400],
    [409, 40900],
    [503, 50301],
  ])("a response with status %i and an Error whose number begins with it", (status, number) => {
    const error = { error: number, message: "why" };
    expect(parseResponse(toResponse(status, JSON.stringify(error)), request)).toEqual({
      ok: false,
      error,
    });
  });

  it.each([["application/json; charset=utf-8"], ["APPLICATION/JSON"], ["application/json ;x=y"]])(
    "a response with the content type %s",
    (type) => {
      const { ok } = parseResponse(
        toResponse(200, '{"name":"a"}', { "content-type": type }),
        request,
      );
      expect(ok).toBe(true);
    },
  );

  it.each([
    ["created", "created"],
    ["unchanged", "unchanged"],
    ["replaced", "replaced"],
    ["CREATED", undefined],
    ["conflict", undefined],
    [["created", "replaced"], undefined],
  ])("the header X-Plantstore-Result %j as the result %j", (header, result) => {
    const headers = { ...jsonType, "x-plantstore-result": header };
    expect(parseResponse(toResponse(200, '{"name":"a"}', headers), request)).toMatchObject({
      result,
    });
  });
});

describe("parseResponse removes the token of the request", () => {
  it("from the message and the request id of an Error", () => {
    const body = '{"error":40102,"message":"unknown token secret-token"}';
    const headers = { ...jsonType, "x-request-id": "secret-token-1" };
    expect(parseResponse(toResponse(400, body, headers), request)).toEqual({
      ok: false,
      error: { error: 40102, message: "unknown token [token]" },
      requestId: "[token]-1",
    });
  });

  it("from the headers that a message quotes", () => {
    const location = `https://elsewhere.example/${"x".repeat(170)}?token=secret-token`;
    const parse = () => parseResponse(toResponse(307, "", { location }), request);
    expect(parse).toThrow(NotAPlantStoreError);
    expect(parse).not.toThrow(/secret/);
  });

  it("only from messages, if the token is a part of a header that the client reads", () => {
    const headers = { ...jsonType, "x-plantstore-result": "created" };
    const short = toCreateRequest("http://127.0.0.1:7526", "a");
    const result = parseResponse(toResponse(200, '{"name":"fern"}', headers), short);
    expect(result).toEqual({ ok: true, plant: { name: "fern" }, result: "created" });
  });
});

describe("parseResponse throws NotAPlantStoreError for", () => {
  const noPlant = /\(HTTP 200, JSON without a Plant\)$/;
  const noError = /\(HTTP 400, JSON without an Error\)$/;
  const noPage = /\(HTTP 404, application\/json\)$/;
  it.each<[what: string, ClientResponse, message: RegExp]>([
    [
      "a redirect",
      toResponse(307, "", { location: "https://elsewhere.example/\u202e" }),
      /\(HTTP 307 to https:\/\/elsewhere\.example\/\\u202e, and redirects are not followed\)$/,
    ],
    ["a redirect without a location", toResponse(302, ""), /HTTP 302 to nowhere/],
    [
      "another status of success",
      toResponse(201, '{"name":"fern"}'),
      /\(HTTP 201, application\/json\)$/,
    ],
    ["a missing page", toResponse(404, "<h1>"), noPage],
    [
      "a body that a proxy rejects",
      toResponse(413, "<h1>", { "content-type": "text/html" }),
      /^a proxy in front of the store limits bodies: client_max_body_size in nginx$/,
    ],
    [
      "a URL that a proxy rejects",
      toResponse(414, "<h1>"),
      /^a proxy in front of the store limits URLs and headers \(status 414\): large_client/,
    ],
    ["headers that a proxy rejects", toResponse(431, ""), /URLs and headers \(status 431\)/],
    [
      "an Error whose number does not begin with its status",
      toResponse(404, '{"error":40900,"message":"taken"}'),
      noPage,
    ],
    ["an Error with the status 200", toResponse(200, '{"error":20000,"message":""}'), noPlant],
    ["HTML", toResponse(200, "<h1>", { "content-type": "text/html" }), /\(HTTP 200, text\/html\)$/],
    [
      "a response without a content type",
      toResponse(200, '{"name":"a"}', {}),
      /\(HTTP 200, no content type\)$/,
    ],
    [
      "a content type that only begins as application/json",
      toResponse(200, '{"name":"a"}', { "content-type": "application/jsonl" }),
      /\(HTTP 200, application\/jsonl\)$/,
    ],
    [
      "a compressed response",
      toResponse(200, "", { ...jsonType, "content-encoding": "gzip" }),
      /\(HTTP 200, compressed with gzip\)$/,
    ],
    ["status 200 without a Plant", toResponse(200, '{"error":1,"message":""}'), noPlant],
    ["a name that is not a string", toResponse(200, '{"name":1}'), noPlant],
    ["a tag that is not a string", toResponse(200, '{"name":"a","tag":null}'), noPlant],
    ["an array", toResponse(200, "[]"), noPlant],
    ["half a Plant", toResponse(200, '{"name":"fe'), noPlant],
    ["an empty body", toResponse(200, ""), noPlant],
    ["status 400 without an Error", toResponse(400, '{"name":"fern"}'), noError],
    ["an error number beyond int32", toResponse(400, '{"error":2147483648,"message":""}'), noError],
    ["an Error without a message", toResponse(400, '{"error":1}'), noError],
  ])("%s", (_what, foreign, message) => {
    const parse = () => parseResponse(foreign, request);
    expect(parse).toThrow(NotAPlantStoreError);
    expect(parse).toThrow(message);
  });
});
