/** The examples of errors agree with the responses of a running server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorTable } from "../../src/core/errors.ts";
import { listFilledExamples } from "../../src/core/filled-examples.ts";
import { examples } from "../../src/core/examples.ts";
import type { FilledRequest } from "../../src/core/request-template.ts";
import { untestableRules } from "../conformance/rules/untestable.ts";
import { startServer, type TestServer, testToken } from "../helpers/plant-server.ts";
import { exchangeRaw } from "../helpers/raw-http.ts";
import type { Response } from "../conformance/response.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ basePath: "/v1" });
});
afterAll(() => server.close());

function send({ method, target, headers, body }: FilledRequest): Promise<Response> {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`);
  return exchangeRaw(server.port, Buffer.concat([head, body]));
}

const filled = listFilledExamples({ host: "localhost", basePath: "/v1", token: testToken });

describe("a running server responds as in the example of", () => {
  it.each(
    filled.map((each) => [each.error, each.accepted ? "accepted" : "rejected", each] as const),
  )("%i, %s", async (_error, _case, { before, request, response }) => {
    for (const each of before) expect((await send(each)).status).toBe(200);
    const { status, headers, body } = await send(request);
    // The accepted request of an example may have created the plant of its rejected one.
    expect({ status, body }).toEqual({ status: response.status, body: response.body });
    const expected = response.headers.map(([name, value]) => [name.toLowerCase(), value]);
    expect(headers).toMatchObject(Object.fromEntries(expected));
  });
});

it("each error number has an example or a reason why it has none", () => {
  const untestable = untestableRules.flatMap(({ error }) => error ?? []);
  const known = [...examples.map(({ error }) => error), ...untestable];
  expect(known.toSorted()).toEqual(Object.keys(errorTable).toSorted());
});

it("the accepted and the rejected request of an example differ only in the rule", () => {
  for (const { accepted, rejected } of examples) expect(accepted).not.toEqual(rejected);
});
