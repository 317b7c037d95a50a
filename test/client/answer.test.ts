import { describe, expect, it } from "vitest";
import { parseAnswer } from "../../src/client/answer.ts";
import { NotAPlantStoreError } from "../../src/client/client-error.ts";
import type { HttpAnswer } from "../../src/client/http/message.ts";

const url = "http://127.0.0.1:7526/plants";
const jsonType = { "content-type": "application/json" };

function answer(status: number, body: string, headers: HttpAnswer["headers"] = jsonType) {
  return { status, headers, body: new TextEncoder().encode(body) };
}

describe("a plant store's answer", () => {
  it.each([
    ["a Plant", '{"name":"fern"}', { name: "fern" }],
    ["a Plant with a tag", '{"name":"","tag":"\\u0000"}', { name: "", tag: "\u0000" }],
    ["a Plant with members of a later version", '{"name":"fern","id":1}', { name: "fern" }],
  ])("200: %s", (_what, body, plant) => {
    expect(parseAnswer(answer(200, body), url)).toMatchObject({ ok: true, plant });
  });

  it("400: an Error", () => {
    const body = '{"error":40900,"message":"taken"}';
    const error = { error: 40900, message: "taken" };
    expect(parseAnswer(answer(400, body), url)).toEqual({ ok: false, error });
  });

  it.each([["application/json; charset=utf-8"], ["APPLICATION/JSON"], ["application/json ;x=y"]])(
    "may have the content type %s",
    (type) => {
      const { ok } = parseAnswer(answer(200, '{"name":"a"}', { "content-type": type }), url);
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
    expect(parseAnswer(answer(200, '{"name":"a"}', headers), url)).toMatchObject({ result });
  });
});

describe("an answer that is no plant store's", () => {
  it.each<[what: string, HttpAnswer, message: RegExp]>([
    [
      "a redirect",
      answer(307, "", { location: "https://elsewhere.example/\u202e" }),
      /redirects to https:\/\/elsewhere\.example\/\\u202e, and redirects are not followed/,
    ],
    ["a redirect to nowhere", answer(302, ""), /redirects to nowhere/],
    ["another success", answer(201, '{"name":"fern"}'), /the status 201$/],
    ["a page that is not there", answer(404, "<h1>"), /the status 404$/],
    [
      "an Error of another status",
      answer(404, '{"error":40400,"message":"no such path"}'),
      /the status 404 \(error 40400: no such path\)/,
    ],
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
    ["200 without a Plant", answer(200, '{"error":1,"message":""}'), /200 and holds no Plant/],
    ["a name that is no string", answer(200, '{"name":1}'), /holds no Plant/],
    ["a tag that is no string", answer(200, '{"name":"a","tag":null}'), /holds no Plant/],
    ["an array", answer(200, "[]"), /holds no Plant/],
    ["half a Plant", answer(200, '{"name":"fe'), /holds no Plant/],
    ["nothing", answer(200, ""), /holds no Plant/],
    ["400 without an Error", answer(400, '{"name":"fern"}'), /400 and holds no Error/],
    [
      "a number of an Error beyond int32",
      answer(400, '{"error":2147483648,"message":""}'),
      /no Error/,
    ],
    ["an Error without a message", answer(400, '{"error":1}'), /holds no Error/],
  ])("%s", (_what, foreign, message) => {
    const parse = () => parseAnswer(foreign, url);
    expect(parse).toThrow(NotAPlantStoreError);
    expect(parse).toThrow(message);
  });
});
