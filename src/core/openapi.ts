/** The interface description in OpenAPI 3.1, generated from the schemas that validate plants (contract.md "Given"). */
import * as z from "zod/mini";
import {
  type ContractOperationId,
  operations,
  plantStoreInterface,
  resultHeader,
} from "./contract.ts";
import { type NextStep, type StatusMode, toUsualStatus } from "./errors.ts";
import * as words from "./openapi-words.ts";
import { errorBodySchema, newPlantSchema, plantSchema } from "./plant-schema.ts";
import type { ConflictPolicy } from "./store.ts";
import { joinWords } from "./words.ts";

/** Properties of a server that its clients can observe. */
export interface DescribedServer {
  /** URL before `/plants`: scheme, host, port and base path, without a trailing slash. */
  readonly url: string;
  readonly maxBodyBytes: number;
  readonly onConflict: ConflictPolicy;
  /** Status of failed creates; by default `contract`. */
  readonly statusMode?: StatusMode | undefined;
}

/** An OpenAPI document, or a part of one; integers beyond 2^53 are bigints. */
export interface OpenApiObject {
  readonly [member: string]: OpenApiValue;
}

/** A value in an OpenAPI document. */
type OpenApiValue = string | number | bigint | boolean | readonly OpenApiValue[] | OpenApiObject;

/** Examples of failures, by name. */
type Examples = Readonly<
  Record<
    string,
    OpenApiObject & { readonly value: { readonly error: number; readonly message: string } }
  >
>;

/** Creates the description of a server. Equal servers get equal descriptions. */
export function createOpenApiDocument(server: DescribedServer): OpenApiObject {
  return {
    openapi: "3.1.0",
    info: {
      ...plantStoreInterface,
      description: words.toServiceDescription(server.statusMode),
      contact: { name: "The operator of this server" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: server.url }],
    security: [{ bearerAuth: [] }],
    tags: [{ name: "plants", description: "The plants in the store" }],
    paths: describePaths(server),
    components: {
      schemas: {
        Plant: toSchema(plantSchema),
        NewPlant: describeNewPlant(),
        Error: toSchema(errorBodySchema),
      },
      securitySchemes: {
        bearerAuth: { type: "http", scheme: "bearer", description: words.credentialDescription },
      },
    },
  };
}

/** Converts a document to JSON with exact integers and a final line feed. */
export function toOpenApiJson(document: OpenApiObject): string {
  // JSON.stringify rejects bigints. They become strings with a mark that no text contains.
  const mark = "\uE000";
  const text = JSON.stringify(
    document,
    (_, value: unknown) => (typeof value === "bigint" ? `${mark}${value}` : value),
    2,
  );
  return `${text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1")}\n`;
}

const describeOperation = { create: describeCreate } satisfies Record<
  ContractOperationId,
  (server: DescribedServer) => OpenApiObject
>;

function describePaths(server: DescribedServer): OpenApiObject {
  const paths: Record<string, Record<string, OpenApiObject>> = {};
  for (const [id, describe] of Object.entries(describeOperation)) {
    const { path, method } = operations[id as ContractOperationId];
    (paths[path] ??= {})[method.toLowerCase()] = describe(server);
  }
  return paths;
}

function describeCreate({ maxBodyBytes, onConflict, statusMode }: DescribedServer): OpenApiObject {
  const isRejecting = onConflict === "reject";
  const examples = { ...words.badRequests, ...(isRejecting && { idTaken: words.conflictExample }) };
  const results = ["created", "unchanged", ...(isRejecting ? [] : ["replaced"])];
  return {
    operationId: "createPlant",
    tags: ["plants"],
    summary: "Creates a new plant in the store",
    description: words.toOperationDescription(onConflict, statusMode),
    parameters: [
      {
        name: "X-Request-Id",
        in: "header",
        description: "Id of the request, for the response and the log of the server",
        schema: { type: "string" },
      },
    ],
    requestBody: {
      description: words.toBodyDescription(maxBodyBytes),
      required: true,
      content: toContent("NewPlant", words.goodRequests),
    },
    responses: {
      200: {
        description: "plant response",
        headers: {
          [resultHeader]: {
            description: "Result of the create. `unchanged`: the same plant was already stored",
            required: true,
            schema: { type: "string", enum: results },
          },
          ...commonHeaders,
        },
        content: toContent("Plant", words.goodResponses),
      },
      ...(statusMode === "http"
        ? describeFailuresByStatus(examples)
        : { 400: describeFailure("unexpected error", allHeaders, examples) }),
    },
  };
}

/** One response for each status that an error number begins with. */
function describeFailuresByStatus(examples: Examples): OpenApiObject {
  const statuses = new Set(words.failures.map(({ error }) => toUsualStatus(error)));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const hasStatus = ({ error }: { readonly error: number }): boolean =>
        toUsualStatus(error) === status;
      const description = words.failures
        .filter(hasStatus)
        .map(({ error, when }) => `${error}: ${when}`)
        .join("; ");
      const asksFor = (step: NextStep): boolean =>
        words.failures.some((row) => hasStatus(row) && row.next === step);
      const ownExamples = Object.entries(examples).filter(([, { value }]) => hasStatus(value));
      const headers = {
        ...(asksFor("token") && challengeHeader),
        ...(asksFor("retryAfter") && retryHeader),
      };
      return [status, describeFailure(description, headers, Object.fromEntries(ownExamples))];
    }),
  );
}

function describeFailure(
  description: string,
  headers: OpenApiObject,
  examples: Examples,
): OpenApiObject {
  return {
    description,
    headers: { ...headers, ...commonHeaders },
    content: toContent("Error", examples),
  };
}

/** The numbers of the errors that ask for a step: `40100 to 40103`, or `50300 and 50301`. */
function listErrors(step: NextStep): string {
  const numbers = words.failures.filter(({ next }) => next === step).map(({ error }) => error);
  const [first = 0] = numbers;
  const isRange = numbers.length > 2 && numbers.every((number, index) => number === first + index);
  if (isRange) return `${first} to ${numbers.at(-1)}`;
  return numbers.length === 1 ? `${first}` : joinWords(numbers.map(String));
}

const challengeHeader = {
  "WWW-Authenticate": {
    description: `Challenge of RFC 6750, with errors ${listErrors("token")}`,
    schema: { type: "string" },
  },
};

const retryHeader = {
  "Retry-After": {
    description: `Seconds to wait before a retry, with errors ${listErrors("retryAfter")}`,
    schema: { type: "integer", minimum: 0 },
  },
};

const allHeaders = { ...challengeHeader, ...retryHeader };

const commonHeaders = {
  "Cache-Control": {
    description: "Responses must not be cached",
    required: true,
    schema: { type: "string", const: "no-store" },
  },
  "X-Content-Type-Options": {
    description: "Clients must not guess another content type",
    required: true,
    schema: { type: "string", const: "nosniff" },
  },
  "X-Request-Id": {
    description: "The id that the client sent, or a new one. The log of the server repeats it",
    required: true,
    schema: { type: "string" },
  },
};

function toContent(schema: string, examples: OpenApiObject): OpenApiObject {
  const hasExamples = Object.keys(examples).length > 0;
  return { "application/json": { schema: toReference(schema), ...(hasExamples && { examples }) } };
}

function toReference(schema: string): OpenApiObject {
  return { $ref: `#/components/schemas/${schema}` };
}

/** Describes a NewPlant as a Plant with further members. */
function describeNewPlant(): OpenApiObject {
  const members = Object.entries(newPlantSchema.shape);
  const own = z.object(
    Object.fromEntries(members.filter(([name]) => !(name in plantSchema.shape))),
  );
  return { allOf: [toReference("Plant"), toSchema(own)] };
}

/** Converts a schema. As in the contract, the format of an integer states its range. */
function toSchema(schema: z.ZodMiniType): OpenApiObject {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema: { _zod }, jsonSchema }) {
      if (!("format" in _zod.def)) return;
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
      Object.assign(jsonSchema, { type: "integer", format: _zod.def.format });
    },
  });
  return described as OpenApiObject;
}
