/** The OpenAPI document of the service, generated from the schemas that validate plants (contract.md "Given"). */
import * as z from "zod/mini";
import {
  type ContractOperationId,
  operations,
  plantStoreInterface,
  resultHeader,
} from "./contract.ts";
import {
  errorRows,
  errorTable,
  type NextStep,
  RequestError,
  type StatusMode,
  toIdTakenError,
  toDerivedStatus,
} from "./errors.ts";
import { maxNesting } from "./json.ts";
import { joinWords } from "./messages.ts";
import { int64Max, int64Min } from "./plant.ts";
import { errorBodySchema, newPlantSchema, plantSchema, readNewPlant } from "./read-plant.ts";
import type { ConflictPolicy } from "./store.ts";

/** Properties of a server that its clients can observe. */
export interface DescribedServer {
  /** URL before `/plants`: scheme, host, port and base path, without a trailing slash. */
  readonly url: string;
  readonly maxBodyBytes: number;
  readonly onConflict: ConflictPolicy;
  /** Status of failed creates; by default `contract`. */
  readonly statusMode?: StatusMode | undefined;
  /** True if the plants end with the server. */
  readonly isVolatile?: boolean | undefined;
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
      description: toServiceDescription(server),
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
        bearerAuth: { type: "http", scheme: "bearer", description: credentialDescription },
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

function describeCreate(server: DescribedServer): OpenApiObject {
  const { maxBodyBytes, onConflict, statusMode } = server;
  const isRejecting = onConflict === "reject";
  const examples = { ...badRequests, ...(isRejecting && { idTaken: conflictExample }) };
  const results = ["created", "unchanged", ...(isRejecting ? [] : ["replaced"])];
  return {
    operationId: "createPlant",
    tags: ["plants"],
    summary: "Creates a new plant in the store",
    description: toOperationDescription(server),
    parameters: [
      {
        name: "X-Request-Id",
        in: "header",
        description: "Id of the request, for the response and the log of the server",
        schema: { type: "string" },
      },
    ],
    requestBody: {
      description: toBodyDescription(maxBodyBytes),
      required: true,
      content: toContent("NewPlant", goodRequests),
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
        content: toContent("Plant", goodResponses),
      },
      ...(statusMode === "http"
        ? describeFailuresByStatus(examples)
        : { 400: describeFailure("unexpected error", allHeaders, examples) }),
    },
  };
}

/** One response for each status that an error number begins with. */
function describeFailuresByStatus(examples: Examples): OpenApiObject {
  const statuses = new Set(failures.map(({ error }) => toDerivedStatus(error)));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const hasStatus = ({ error }: { readonly error: number }): boolean =>
        toDerivedStatus(error) === status;
      const description = failures
        .filter(hasStatus)
        .map(({ error, when }) => `${error}: ${when}`)
        .join("; ");
      const asksFor = (step: NextStep): boolean =>
        failures.some((row) => hasStatus(row) && row.next === step);
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
  const numbers = failures.filter(({ next }) => next === step).map(({ error }) => error);
  const [first = 0] = numbers;
  const isRange = numbers.length > 2 && numbers.every((number, index) => number === first + index);
  if (isRange) return `${first} to ${numbers.at(-1)}`;
  return numbers.length === 1 ? `${first}` : joinWords(numbers.map(String));
}

/** Rows of the error table that belong to the operation. */
const failures = errorRows.filter(({ status }) => status === undefined);

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

/** Describes the service. */
function toServiceDescription({ statusMode, isVolatile }: DescribedServer): string {
  return `\
A ${isVolatile ? "volatile" : "durable"} store of plants with ${listOperations()}. Every request needs a bearer token. Every
failure of the operation has ${failureStatus[statusMode ?? "contract"]} and an Error; its \`error\` identifies the failure.`;
}

function listOperations(): string {
  const listed = Object.values(operations).filter(({ needsToken }) => needsToken);
  const names = listed.map(({ method, path }) => `\`${method} ${path}\``);
  return names.length === 1
    ? `one operation: ${names[0]}`
    : `${names.length} operations: ${joinWords(names)}`;
}

/** The status of a failure, in words. */
const failureStatus: Readonly<Record<StatusMode, string>> = {
  contract: "status 400",
  http: "its usual HTTP status",
};

/** Describes the token. */
const credentialDescription = `\
Send \`Authorization: Bearer <ACCESS_TOKEN>\` exactly once with each request. The scheme is case-insensitive. The server
checks the token before it reads the body, and ignores tokens in the query or the body. The server's operator issues
tokens. Tokens issued by plantstore start with \`pst_\`.`;

/** Describes the body of a create. */
function toBodyDescription(maxBodyBytes: number): string {
  return `\
A NewPlant: JSON in UTF-8 with at most ${maxBodyBytes} bytes and ${maxNesting} levels.

- \`id\` is any JSON number that is an integer from ${int64Min} to ${int64Max}: \`1\`, \`1.0\`,
  \`1e3\`. It is never rounded. \`"1"\` and \`1.5\` are rejected with ${errorTable.idNotInteger.error}.
- Strings can be any, including the empty string. They are stored exactly. \`null\` is not a string: leave an optional member out.
- Unknown members are ignored. Duplicate members are rejected.
- A charset other than UTF-8 and a compressed body are rejected. \`Accept\` is ignored.`;
}

/** Describes the status of failures and their numbers. */
const failureWords: Readonly<Record<StatusMode, string>> = {
  contract: `\
Every failure has status 400. \`error\` is the usual HTTP status of the failure times 100, plus a detail number. Numbers are
never reused:`,
  http: `\
This server runs with \`--status-mode http\`: the status of a failure is the one that its \`error\` begins with. In the plant
store contract, every failure has status 400. \`error\` is the status times 100, plus a detail number. Numbers are never reused:`,
};

/** Describes the operation. */
function toOperationDescription({ onConflict, statusMode, isVolatile }: DescribedServer): string {
  const durability = isVolatile
    ? "is in memory, until the server stops"
    : "has been flushed to disk and survives a power failure";
  return `\
Creates a new plant in the store. A 200 means that the plant ${durability}.

Sending the same plant again returns 200 and writes nothing, so clients can safely retry if they did not receive a
response. ${conflictWords[onConflict]}

${failureWords[statusMode ?? "contract"]}

| error | when |
| --- | --- |
${failures.map(({ error, when }) => `| ${error} | ${when} |`).join("\n")}

If several rules are broken, \`message\` names all of them, and \`error\` is the first one in the table.`;
}

const conflictWords: Readonly<Record<ConflictPolicy, string>> = {
  reject: `\
A different plant with the same \`id\` is rejected with ${errorTable.idTaken.error}, and the stored plant does not change. If
clients send different plants with one id at the same time, exactly one create succeeds.`,
  replace: `\
A different plant with the same \`id\` replaces the stored plant.`,
};

/** Examples of valid bodies. */
const goodRequests = {
  fern: { summary: "A plant", value: { id: 1, name: "fern" } },
  tagged: { summary: "With a tag", value: { id: 2, name: "monstera", tag: "pot" } },
  largestId: {
    summary: "The largest id (parse it as a 64-bit integer)",
    value: { id: int64Max, name: "oak" },
  },
};

/** Responses to {@link goodRequests}. */
const goodResponses = {
  fern: { summary: "A plant", value: { name: "fern" } },
  tagged: { summary: "With a tag", value: { name: "monstera", tag: "pot" } },
};

/** Descriptions of invalid requests, with the Error in the response. */
const badRequests = {
  idMissing: toBadBody('{"name":"fern"}'),
  idNotInteger: toBadBody('{"id":"1","name":"fern"}'),
  tagNotString: toBadBody('{"id":1,"name":"fern","tag":null}'),
  notJson: toBadBody(`{"id":1,"name":'fern'}`),
  noCredential: toBadRequest(
    new RequestError(
      "noCredential",
      'no credential: send the header "Authorization: Bearer <ACCESS_TOKEN>"',
    ),
    "a request without an Authorization header",
  ),
};

/** Example for the policy `reject`. */
const conflictExample = toBadRequest(
  toIdTakenError(1n),
  '`{"id":1,"name":"moss"}` if the stored plant 1 is a fern',
);

function toBadBody(body: string) {
  return toBadRequest(readNewPlant(new TextEncoder().encode(body)) as RequestError, `\`${body}\``);
}

/** @param request describes the rejected request */
function toBadRequest({ kind, error, message }: RequestError, request: string) {
  return {
    summary: errorTable[kind].when,
    description: `Response to ${request}`,
    value: { error, message },
  };
}
