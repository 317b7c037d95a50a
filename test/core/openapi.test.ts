/** The interface description: it agrees with the contract and the code. test/ecosystem/openapi.test.ts validates it for other tools. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OperationSet } from "../../src/core/contract.ts";
import { errorTable, listErrorKinds, RequestError } from "../../src/core/errors.ts";
import { createOpenApiDocument, toOpenApiJson } from "../../src/core/openapi.ts";
import { readNewPlant, validateNewPlant } from "../../src/core/read-plant.ts";
import { compileSchema, readDescription } from "../helpers/interface-description.ts";

const server = {
  url: "https://plants.example.org/v1",
  maxBodyBytes: 1024,
  onConflict: "reject",
} as const;
const text = toOpenApiJson(createOpenApiDocument(server));
const description = readDescription(server);
const operation = description.paths["/plants"].post;

/** Numbers of the errors that a server sends. */
function listNumbers(operations: OperationSet): number[] {
  return listErrorKinds({ ...server, operations }).map((kind) => errorTable[kind].error);
}

describe("the document", () => {
  it("has the operation of the contract, its two responses, and a bearer token", () => {
    expect(JSON.parse(text)).toMatchObject({
      openapi: "3.1.0",
      info: { title: "plant store", version: "1.0.0", license: { name: "MIT" } },
      servers: [{ url: "https://plants.example.org/v1" }],
      security: [{ bearerAuth: [] }],
      components: { securitySchemes: { bearerAuth: { type: "http", scheme: "bearer" } } },
    });
    expect(Object.keys(description.paths)).toEqual(["/plants"]);
    expect(Object.keys(description.paths["/plants"])).toEqual(["post"]);
    expect(operation).toMatchObject({
      operationId: "createPlant",
      requestBody: { required: true },
      responses: {
        200: { description: "plant response" },
        400: { description: "unexpected error" },
      },
    });
    expect(Object.keys(operation.responses)).toEqual(["200", "400"]);
  });

  it("has the schemas of the contract", () => {
    const schemas = JSON.parse(
      JSON.stringify(description.components.schemas, (key, value: unknown) =>
        key === "description" ? undefined : value,
      ),
    ) as unknown;
    expect(schemas).toEqual({
      Plant: {
        type: "object",
        properties: { name: { type: "string" }, tag: { type: "string" } },
        required: ["name"],
      },
      NewPlant: {
        allOf: [
          { $ref: "#/components/schemas/Plant" },
          {
            type: "object",
            properties: { id: { type: "integer", format: "int64" } },
            required: ["id"],
          },
        ],
      },
      Error: {
        type: "object",
        properties: {
          error: { type: "integer", format: "int32", examples: listNumbers("create") },
          message: { type: "string" },
        },
        required: ["error", "message"],
      },
    });
  });

  it("is the same text for the same server", () => {
    expect(toOpenApiJson(createOpenApiDocument({ ...server }))).toBe(text);
  });

  it("lists every error number of the operation", () => {
    const rows = [...operation.description.matchAll(/^\| (\d+) \| (.+) \|$/gm)];
    const others: readonly number[] = [40400, 40401, 40500, 42207, 42208];
    expect(rows.map(([, error, when]) => [Number(error), when])).toEqual(
      Object.values(errorTable)
        .filter(({ error }) => !others.includes(error))
        .map(({ error, when }) => [error, when]),
    );
  });

  it("describes the id of a request and of each response", () => {
    expect(operation.parameters).toMatchObject([{ name: "X-Request-Id", in: "header" }]);
    for (const { headers } of Object.values(operation.responses)) {
      expect(headers["X-Request-Id"]).toMatchObject({ required: true });
    }
  });

  it("describes the options of the server", () => {
    expect(operation.requestBody.description).toContain("at most 1024 bytes");
    expect(operation.description).toContain("rejected with 40900");
    expect(operation.responses[400]?.content["application/json"]?.examples).toHaveProperty(
      "idTaken",
    );

    for (const statusMode of ["contract", "http"] as const) {
      const document = createOpenApiDocument({ ...server, onConflict: "replace", statusMode });
      expect(toOpenApiJson(document)).not.toContain("40900");
    }
    const replacing = readDescription({ onConflict: "replace" }).paths["/plants"].post;
    expect(replacing.responses[200]?.headers["X-Plantstore-Result"]?.schema).toEqual({
      type: "string",
      enum: ["created", "unchanged", "replaced"],
    });
    expect(replacing.responses[400]?.content["application/json"]?.examples).not.toHaveProperty(
      "idTaken",
    );
  });
});

describe("the document of a server with all operations", () => {
  interface Operation {
    readonly operationId: string;
    readonly description: string;
    readonly parameters: readonly object[];
    readonly responses: Readonly<Record<string, Response>>;
  }
  interface Response {
    readonly headers: object;
    readonly content?: { readonly "application/json": { readonly examples: object } };
  }
  const readWhole = (statusMode: "contract" | "http") => {
    const whole = { ...server, operations: "all", statusMode } as const;
    const json = toOpenApiJson(createOpenApiDocument(whole));
    return JSON.parse(json) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
      readonly components: { readonly schemas: { readonly Error: object } };
    };
  };
  const { paths, components } = readWhole("contract");
  const list = paths["/plants"]?.["get"];
  const remove = paths["/plants/{id}"]?.["delete"];

  it("has the three operations, with their parameters", () => {
    const operations = Object.values(paths).flatMap((path) => Object.values(path));
    expect(operations.map(({ operationId }) => operationId)).toEqual([
      "createPlant",
      "listPlants",
      "deletePlant",
    ]);
    expect(list?.parameters).toMatchObject([
      { name: "limit", in: "query", schema: { minimum: 1, maximum: 1000, default: 100 } },
      { name: "after", in: "query", schema: { type: "integer", format: "int64" } },
      { name: "X-Request-Id", in: "header" },
    ]);
    expect(remove?.parameters).toMatchObject([
      { name: "id", in: "path", required: true, schema: { type: "integer", format: "int64" } },
      { name: "X-Request-Id", in: "header" },
    ]);
    expect(list?.responses["200"]?.headers).toHaveProperty("Link");
    expect(Object.keys(remove?.responses ?? {})).toEqual(["204", "400"]);
    expect(remove?.responses["204"]).not.toHaveProperty("content");
  });

  it("describes the create as a server with one operation does", () => {
    expect(paths["/plants"]?.["post"]).toEqual(JSON.parse(JSON.stringify(operation)));
  });

  it("lists the errors of each operation, and no others", () => {
    const readNumbers = ({ description: words = "" }: Partial<Operation> = {}): number[] =>
      [...words.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
    const shared = [40000, 40100, 40101, 40102, 40103, 40300, 40800, 41400, 43100];
    const failures = [50000, 50300, 50301, 50700];
    const byNumber = (numbers: number[]) =>
      [...shared, ...numbers, ...failures].toSorted((a, b) => a - b);
    expect(readNumbers(list)).toEqual(byNumber([42207, 42208]));
    expect(readNumbers(remove)).toEqual(byNumber([40401, 42202, 42203, 50302]));
  });

  it("has the numbers of its errors", () => {
    const numbers = listNumbers("all");
    expect(numbers).toEqual(expect.arrayContaining([40401, 42207, 42208]));
    expect(listNumbers("create")).not.toContain(40401);
    expect(components.schemas.Error).toMatchObject({
      properties: { error: { examples: numbers } },
    });
  });

  it("has the status of each failure in status mode http", () => {
    const byStatus = readWhole("http").paths["/plants/{id}"]?.["delete"]?.responses ?? {};
    expect(Object.keys(byStatus)).toEqual(expect.arrayContaining(["204", "404", "422", "503"]));
    const examples = byStatus["404"]?.content?.["application/json"].examples;
    expect(Object.keys(examples ?? {})).toEqual(["noSuchPlant"]);
  });
});

describe("the document of a server with the status mode http", () => {
  const { responses, description: words } = readDescription({ ...server, statusMode: "http" })
    .paths["/plants"].post;

  it("has a response for each status that an error number begins with", () => {
    const others: readonly number[] = [404, 405];
    const statuses = Object.values(errorTable).map(({ error }) => Math.trunc(error / 100));
    const expected = new Set([200, ...statuses.filter((status) => !others.includes(status))]);
    expect(Object.keys(responses).map(Number)).toEqual([...expected].toSorted((a, b) => a - b));
    expect(words).toContain("--status-mode http");
  });

  it("has each example at its status, and each header at the statuses that have it", () => {
    const examples = Object.entries(responses).flatMap(([status, { content }]) =>
      Object.values(content["application/json"]?.examples ?? {}).map(({ value }) => {
        const { error } = value as { readonly error?: number };
        return [status, error === undefined ? "200" : String(Math.trunc(error / 100))];
      }),
    );
    expect(examples.length).toBeGreaterThan(5);
    for (const [status, expected] of examples) expect(status).toBe(expected);
    expect(responses[401]?.headers).toHaveProperty("WWW-Authenticate");
    expect(responses[503]?.headers).toHaveProperty("Retry-After");
    expect(responses[409]?.headers).not.toHaveProperty("Retry-After");
  });
});

describe("the schema of NewPlant agrees with the parser", () => {
  const isNewPlant = compileSchema(description, { $ref: "#/components/schemas/NewPlant" });

  function isAccepted(json: string): boolean {
    return !(readNewPlant(new TextEncoder().encode(json)) instanceof RequestError);
  }

  it("for any object with some of its members", () => {
    const value = fc.oneof(fc.integer(), fc.double(), fc.string(), fc.jsonValue({ maxDepth: 1 }));
    const member = fc.option(value, { nil: undefined, freq: 10 });
    const body = fc.record({
      id: fc.oneof({ weight: 3, arbitrary: fc.maxSafeInteger() }, member),
      name: fc.oneof({ weight: 3, arbitrary: fc.string() }, member),
      tag: fc.oneof({ weight: 3, arbitrary: fc.string() }, member),
      other: member,
    });
    const accepted = { true: 0, false: 0 };
    fc.assert(
      fc.property(body, (members) => {
        const json = JSON.stringify(members);
        const expected = isNewPlant(JSON.parse(json));
        accepted[expected ? "true" : "false"]++;
        expect(isAccepted(json), json).toBe(expected);
      }),
      { numRuns: 2000 },
    );
    // The generated values include both.
    expect(Math.min(accepted.true, accepted.false)).toBeGreaterThan(100);
  });

  it("for any other JSON", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(isAccepted(json), json).toBe(isNewPlant(JSON.parse(json)));
      }),
    );
  });

  it("for the names of missing members", () => {
    isNewPlant({});
    const missing = (isNewPlant.errors ?? []).map(({ params }) =>
      String(params["missingProperty"]),
    );
    expect(validateNewPlant(new Map())).toMatchObject({
      message: expect.stringMatching(/^id is missing.*; name is missing/),
    });
    expect(missing.toSorted()).toEqual(["id", "name"]);
  });
});
