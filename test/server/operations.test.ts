/** The table of operations: what a further row brings without a change of the server. */
import { expect, it, vi } from "vitest";
import type * as table from "../../src/core/contract.ts";
import type * as functions from "../../src/server/operations.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { sendRaw } from "../helpers/raw-http.ts";
import { toRawHead } from "../helpers/raw-request.ts";
import { startRecordedServer } from "../helpers/recorded-server.ts";

vi.mock("../../src/core/contract.ts", async (load) => {
  const actual = await load<typeof table>();
  const row = { method: "GET", path: "/plants/{id}/parts/{part}", needsToken: true };
  const update = { ...row, method: "PUT" };
  const operations = Object.assign(actual.operations, { part: row, updatePart: update });
  return { ...actual, operations };
});

vi.mock("../../src/server/operations.ts", async (load) => {
  const actual = await load<typeof functions>();
  const part = ({ parameters }: functions.Call) => ({
    status: 200,
    body: JSON.stringify(parameters),
    headers: [],
  });
  const createOperations = (options: functions.OperationOptions) => ({
    ...actual.createOperations(options),
    part,
    updatePart: part,
  });
  return { ...actual, createOperations };
});

it("gives a row with parameters its route below the base path", async () => {
  await using server = await startRecordedServer({ basePath: "/v1.0", corsOrigins: ["*"] });
  const headers = { authorization: `Bearer ${testToken}`, "content-type": "application/json" };
  const send = (method: string, path: string, body?: string) =>
    fetch(new URL(path, server.url), { method, headers, ...(body !== undefined && { body }) });
  const part = await send("GET", "/v1.0/plants/a%2Fb/parts/2?query");
  expect(await part.json()).toEqual({ id: "a%2Fb", part: "2" });
  expect((await send("PUT", "/v1.0/plants/1/parts/2")).status).toBe(200);
  for (const path of ["/plants/1/parts/2", "/v1x0/plants/1/parts/2", "/v1.0/plants//parts/2"]) {
    expect((await send("GET", path)).status).toBe(404);
  }
  for (const [method, status] of [
    ["POST", 405],
    ["OPTIONS", 204],
  ] as const) {
    const response = await send(method, "/v1.0/plants/1/parts/2");
    expect([response.status, response.headers.get("allow")]).toEqual([
      status,
      "GET, HEAD, PUT, OPTIONS",
    ]);
  }
  expect((await send("POST", "/v1.0/plants", '{"id":1,"name":"fern"}')).status).toBe(200);
  expect(server.records.map(({ operation }) => operation)).toEqual([
    "part",
    "updatePart",
    ...Array<undefined>(4).fill(undefined),
    "options",
    "create",
  ]);
});

it("checks the credential of a row that needs one before its body arrives", async () => {
  await using server = await startServer();
  const head = toRawHead({ token: "wrong" }).replace("POST /plants", "PUT /plants/1/parts/2");
  using connection = await sendRaw(server.port, `${head}Content-Length: 10\r\n\r\n`);
  expect(await connection.results(1)).toEqual(["400 40102"]);
});

it("types the parameters of a path by its text", () => {
  type Parameters = table.PathParameters<"/plants/{id}/parts/{part}">;
  const read = ({ id, part }: Parameters): string => `${id} ${part}`;
  expect(read({ id: "1", part: "2" })).toBe("1 2");
  // @ts-expect-error The path has {id}, not {ID}.
  const wrong: keyof Parameters = "ID";
  expect(wrong).toBe("ID");
});
