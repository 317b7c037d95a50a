import { describe, expect, it } from "vitest";
import { parseAnswer } from "../../src/client/answer.ts";
import { NotAPlantStoreError } from "../../src/client/client-error.ts";
import { toCreateRequest } from "../../src/client/create-request.ts";
import type { HttpResponse } from "../../src/client/http/message.ts";

const request = toCreateRequest("http://127.0.0.1:7526", "secret-token");
const jsonType = { "content-type": "application/json" };

function answer(status: number, body: string, headers: HttpResponse["headers"] = jsonType) {
  return { status, headers, body: new TextEncoder().encode(body) };
}

describe("a plant store's answer", () => {
  it.each([
    ["a Plant", '{"name":"fern"}', { name: "fern" }],
    ["a Plant with a tag", '{"name":"","tag":"\\u0000"}', { name: "", tag: "\u0000" }],
    ["a Plant with members of a later version", '{"name":"fern","id":1}', { name: "fern" }],
  ])("200: %s", (_what, body, plant) => {
    expect(parseAnswer(answer(200, body), request)).toMatchObject({ ok: true, plant });
  });

  it("400: an Error", () => {
    const body = '{"error":40900,"message":"taken"}';
    const error = { error: 40900, message: "taken" };
    expect(parseAnswer(answer(400, body), request)).toEqual({ ok: false, error });
  });

  it.each([
    [401, 40102],
    [404, 40400],
    [409, 40900],
    [503, 50301],
  ])("%i: an Error whose number begins with it", (status, number) => {
    const error = { error: number, message: "why" };
    expect(parseAnswer(answer(status, JSON.stringify(error)), request)).toEqual({
      ok: false,
      error,
    });
  });

  it.each([["application/json; charset=utf-8"], ["APPLICATION/JSON"], ["application/json ;x=y"]])(
    "may have the content type %s",
    (type) => {
      const { ok } = parseAnswer(answer(200, '{"name":"a"}', { "content-type": type }), request);
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
  ])("X-Plantstore-Result: %j says %j", (header, result) => {
    const headers = { ...jsonType, "x-plantstore-result": header };
    expect(parseAnswer(answer(200, '{"name":"a"}', headers), request)).toMatchObject({ result });
  });
});

describe("the token of the request", () => {
  it("is removed from the message and the request id of an Error", () => {
    const body = '{"error":40102,"message":"unknown token secret-token"}';
    const headers = { ...jsonType, "x-request-id": "secret-token-1" };
    expect(parseAnswer(answer(400, body, headers), request)).toEqual({
      ok: false,
      error: { error: 40102, message: "unknown token [token]" },
      requestId: "[token]-1",
    });
  });

  it("is removed from the headers that a message quotes", () => {
    const location = `https://elsewhere.example/${"x".repeat(170)}?token=secret-token`;
    const parse = () => parseAnswer(answer(307, "", { location }), request);
    expect(parse).toThrow(NotAPlantStoreError);
    expect(parse).not.toThrow(/secret/);
  });
});

describe("an answer that is no plant store's", () => {
  it.each<[what: string, HttpResponse, message: RegExp]>([
    [
      "a redirect",
      answer(307, "", { location: "https://elsewhere.example/\u202e" }),
      /redirects to https:\/\/elsewhere\.example\/\\u202e, and redirects are not followed/,
    ],
    ["a redirect to nowhere", answer(302, ""), /redirects to nowhere/],
    ["another success", answer(201, '{"name":"fern"}'), /the status 201$/],
    ["a page that is not there", answer(404, "<h1>"), /the status 404$/],
    [
      "an Error of another status than its number",
      answer(404, '{"error":40900,"message":"taken"}'),
      /the status 404$/,
    ],
    ["an Error with the status 200", answer(200, '{"error":20000,"message":""}'), /holds no Plant/],
    ["HTML", answer(200, "<h1>", { "content-type": "text/html" }), /content type text\/html/],
    ["no content type", answer(200, '{"name":"a"}', {}), /content type none/],
    [
      "a content type that only begins the same",
      answer(200, '{"name":"a"}', { "content-type": "application/jsonl" }),
      /content type application\/jsonl/,
    ],
    [
      "a compressed answer",
      answer(200, "", { ...jsonType, "content-encoding": "gzip" }),
      /compressed \(gzip\)/,
    ],
    ["200 without a Plant", answer(200, '{"error":1,"message":""}'), /200 but holds no Plant/],
    ["a name that is no string", answer(200, '{"name":1}'), /holds no Plant/],
    ["a tag that is no string", answer(200, '{"name":"a","tag":null}'), /holds no Plant/],
    ["an array", answer(200, "[]"), /holds no Plant/],
    ["half a Plant", answer(200, '{"name":"fe'), /holds no Plant/],
    ["nothing", answer(200, ""), /holds no Plant/],
    ["400 without an Error", answer(400, '{"name":"fern"}'), /400 but holds no Error/],
    [
      "a number of an Error beyond int32",
      answer(400, '{"error":2147483648,"message":""}'),
      /no Error/,
    ],
    ["an Error without a message", answer(400, '{"error":1}'), /holds no Error/],
  ])("%s", (_what, foreign, message) => {
    const parse = () => parseAnswer(foreign, request);
    expect(parse).toThrow(NotAPlantStoreError);
    expect(parse).toThrow(message);
  });
});
