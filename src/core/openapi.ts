/** The OpenAPI document of the service, generated from the schemas that validate plants (contract.md "Given"). */
import * as z from "zod/mini";
import {
  type ContractOperationId,
  contractOperations,
  operations,
  type OperationSet,
  plantStoreInterface,
  resultHeader,
} from "./contract.ts";
import {
  type ErrorRow,
  errorRows,
  errorTable,
  listErrorKinds,
  RequestError,
  type StatusMode,
  toIdTakenError,
  toNoSuchPlantError,
  toDerivedStatus,
} from "./errors.ts";
import { maxNesting } from "./json.ts";
import { joinWords } from "./messages.ts";
import { type ParameterName, parameterRules, readId, readPageQuery } from "./parameters.ts";
import { type ErrorBody, int64Max, int64Min } from "./plant.ts";
import { errorBodySchema, newPlantSchema, plantSchema, readNewPlant } from "./read-plant.ts";
import type { ConflictPolicy, StoreKind } from "./store.ts";

/** Properties of a server that its clients can observe. */
export interface DescribedServer {
  /** URL before `/plants`: scheme, host, port and base path, without a trailing slash. */
  readonly url: string;
  readonly maxBodyBytes: number;
  readonly onConflict: ConflictPolicy;
  /** Status of errors; by default `contract`. */
  readonly statusMode?: StatusMode | undefined;
  /** Operations of the contract that it serves; by default `create`. */
  readonly operations?: OperationSet | undefined;
  /** Plants in memory end with the server. */
  readonly storeKind?: StoreKind | undefined;
  /** What its users should know besides, in sentences. */
  readonly notice?: string | undefined;
}

/** An OpenAPI document, or a part of one. */
export interface OpenApiObject {
  readonly [member: string]: OpenApiValue;
}

/** A value in an OpenAPI document. */
type OpenApiValue = string | number | boolean | readonly OpenApiValue[] | OpenApiObject;

/** Examples of failures, by name. */
type Examples = Readonly<Record<string, ReturnType<typeof toBadRequest>>>;

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
        ...(server.operations === "all" && { StoredPlant: describeNewPlant() }),
        Error: describeError(server),
      },
      securitySchemes: {
        bearerAuth: { type: "http", scheme: "bearer", description: credentialDescription },
      },
    },
  };
}

/** Converts a document to JSON with a final line feed. */
export function toOpenApiJson(document: OpenApiObject): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

const describeOperation = {
  create: describeCreate,
  list: describeList,
  delete: describeDelete,
} satisfies Record<ContractOperationId, (server: DescribedServer) => OpenApiObject>;

function describePaths(server: DescribedServer): OpenApiObject {
  const paths: Record<string, Record<string, OpenApiObject>> = {};
  for (const id of contractOperations[server.operations ?? "create"]) {
    const { path, method } = operations[id];
    (paths[path] ??= {})[method.toLowerCase()] = describeOperation[id](server);
  }
  return paths;
}

function describeCreate(server: DescribedServer): OpenApiObject {
  const { maxBodyBytes, onConflict, storeKind } = server;
  const isRejecting = onConflict === "reject";
  const moss = '`{"id":1,"name":"moss"}` if the stored plant 1 is a fern';
  const idTaken = toBadRequest(toIdTakenError(1n), moss);
  const examples = { ...badRequests, ...(isRejecting && { idTaken }) };
  const results = ["created", "unchanged", ...(isRejecting ? [] : ["replaced"])];
  return {
    operationId: "createPlant",
    tags: ["plants"],
    summary: "Creates a new plant in the store",
    description: `\
Creates a new plant in the store. A 200 means that the plant ${
      storeKind === "memory"
        ? "is in memory, until the server stops"
        : "has been flushed to disk and survives a power failure"
    }.

Sending the same plant again returns 200 and writes nothing, so clients can safely retry if they did not receive a
response. ${conflictWords[onConflict]}

${toFailureDescription("create", server)}`,
    parameters: describeParameters(),
    requestBody: {
      description: `\
A NewPlant: JSON in UTF-8 with at most ${maxBodyBytes} bytes and ${maxNesting} levels.

- \`id\` is any JSON number that is an integer from ${int64Min} to ${int64Max}: \`1\`, \`1.0\`, \`1e3\`.
  The server never rounds it, but JavaScript does above 2^53. \`"1"\` and \`1.5\` are rejected with ${errorTable.idNotInteger.error}.
- Strings can be any, including the empty string. They are stored exactly. \`null\` is not a string: leave an optional member out.
- Unknown members are ignored. A duplicate \`id\`, \`name\` or \`tag\` is rejected.
- A charset other than UTF-8 and a compressed body are rejected. \`Accept\` is ignored.`,
      required: true,
      content: toContent(toReference("NewPlant"), goodRequests),
    },
    responses: {
      200: {
        description: "plant response",
        headers: {
          [resultHeader]: requireHeader(
            "Result of the create. `unchanged`: the same plant was already stored",
            { enum: results },
          ),
          ...commonHeaders,
        },
        content: toContent(toReference("Plant"), goodResponses),
      },
      ...describeFailures("create", server, examples),
    },
  };
}

function describeList(server: DescribedServer): OpenApiObject {
  const badLimit = readPageQuery("limit=0") as RequestError;
  const limitInvalid = toBadRequest(badLimit, "`GET /plants?limit=0`");
  const plants = Object.values(goodRequests).map(({ value }) => value);
  return {
    operationId: "listPlants",
    tags: ["plants"],
    summary: "Lists the plants in the order of their ids",
    description: `\
Lists the plants in the order of their ids, in pages. If more plants follow, the header \`Link\` names the next page. A page
may end before its limit, at about 1 MiB, but has a plant if one follows. One page is one snapshot, several are not: a later
page can be empty. A parameter that is given twice is rejected, and others are ignored. JavaScript rounds ids above 2^53.

${toFailureDescription("list", server)}`,
    parameters: describeParameters("limit", "after"),
    responses: {
      200: {
        description: "a page of plants",
        headers: {
          Link: {
            description:
              'The next page, such as `<?limit=100&after=7>; rel="next"` (RFC 8288), if more plants follow',
            schema: { type: "string" },
          },
          ...commonHeaders,
        },
        content: toContent(
          { type: "array", items: toReference("StoredPlant") },
          { plants: { summary: "Two plants", value: plants } },
        ),
      },
      ...describeFailures("list", server, { limitInvalid, noCredential }),
    },
  };
}

function describeDelete(server: DescribedServer): OpenApiObject {
  const absent = "`DELETE /plants/1` if no plant has the id 1";
  const examples = {
    noSuchPlant: toBadRequest(toNoSuchPlantError(1n), absent),
    idNotInteger: toBadRequest(readId("fern") as RequestError, "`DELETE /plants/fern`"),
    noCredential,
  };
  return {
    operationId: "deletePlant",
    tags: ["plants"],
    summary: "Deletes a plant from the store",
    description: `\
Deletes a plant from the store. A 204 means that the plant is gone${server.storeKind === "memory" ? "" : ", also after a power failure"}.

If no plant has the id, the failure is ${errorTable.noSuchPlant.error}. A client that repeats a delete because it did not receive a response
takes that as done.

${toFailureDescription("delete", server)}`,
    parameters: describeParameters("id"),
    responses: {
      204: { description: "the plant is deleted", headers: commonHeaders },
      ...describeFailures("delete", server, examples),
    },
  };
}

/** Describes parameters, and the header that every operation has. As in the contract, the format of an int64 states its range. */
function describeParameters(...names: readonly ParameterName[]): OpenApiObject[] {
  const described = names.map((name) => {
    const { in: location, description, min, max, example, ...others } = parameterRules[name];
    const range =
      max === int64Max ? { format: "int64" } : { minimum: Number(min), maximum: Number(max) };
    const fallback = "default" in others && { default: Number(others.default) };
    return {
      name,
      in: location,
      ...(location === "path" && { required: true }),
      description,
      schema: { type: "integer", ...range, ...fallback },
      example,
    };
  });
  const requestId = {
    name: "X-Request-Id",
    in: "header",
    description: "Id of the request, for the response and the log of the server",
    schema: { type: "string" },
  };
  return [...described, requestId];
}

/** Describes all failures as one, or those of each status that an error number begins with. */
function describeFailures(
  id: ContractOperationId,
  server: DescribedServer,
  examples: Examples,
): OpenApiObject {
  if (server.statusMode !== "http") {
    const headers = { ...challengeHeader, ...retryHeader };
    return { 400: describeFailure("unexpected error", headers, examples) };
  }
  const failures = listFailures(id, server);
  const statuses = new Set(failures.map(({ error }) => toDerivedStatus(error)));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const hasStatus = ({ error }: { readonly error: number }): boolean =>
        toDerivedStatus(error) === status;
      const own = failures.filter(hasStatus);
      const description = own.map(({ error, when }) => `${error}: ${when}`).join("; ");
      const ownExamples = Object.entries(examples).filter(([, { value }]) => hasStatus(value));
      const headers = {
        ...(own.some(hasChallenge) && challengeHeader),
        ...(own.some(hasRetryAfter) && retryHeader),
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
    content: toContent(toReference("Error"), examples),
  };
}

const hasChallenge = ({ next }: ErrorRow): boolean => next === "token";
const hasRetryAfter = ({ retryAfterS }: ErrorRow): boolean => retryAfterS !== undefined;

function listNumbers(has: (row: ErrorRow) => boolean): string {
  return joinWords(errorRows.filter(has).map(({ error }) => `${error}`));
}

function listFailures(id: ContractOperationId, server: DescribedServer): readonly ErrorRow[] {
  const rows: readonly ErrorRow[] = listErrorKinds(server).map((kind) => errorTable[kind]);
  return rows.filter(({ status, only }) => status === undefined && (only?.includes(id) ?? true));
}

const challengeHeader = {
  "WWW-Authenticate": {
    description: `Challenge of RFC 6750, with errors ${listNumbers(hasChallenge)}`,
    schema: { type: "string" },
  },
};

const retryHeader = {
  "Retry-After": {
    description: `Seconds to wait before a retry, with errors ${listNumbers(hasRetryAfter)}`,
    schema: { type: "integer", minimum: 0 },
  },
};

const commonHeaders = {
  "Cache-Control": requireHeader("Responses must not be cached", { const: "no-store" }),
  "X-Content-Type-Options": requireHeader("Clients must not guess another content type", {
    const: "nosniff",
  }),
  "X-Request-Id": requireHeader(
    "The id that the client sent, or a new one. The log of the server repeats it",
  ),
};

function requireHeader(description: string, rule: OpenApiObject = {}): OpenApiObject {
  return { description, required: true, schema: { type: "string", ...rule } };
}

function toContent(schema: OpenApiObject, examples: OpenApiObject): OpenApiObject {
  const hasExamples = Object.keys(examples).length > 0;
  return { "application/json": { schema, ...(hasExamples && { examples }) } };
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

/** Describes an Error. Its numbers are examples, not an enum: strict clients must accept those of later versions. */
function describeError(server: DescribedServer): OpenApiObject {
  const { properties, ...schema } = toSchema(errorBodySchema);
  const { error, message } = properties as Readonly<Record<keyof ErrorBody, OpenApiObject>>;
  const numbers = listErrorKinds(server).map((kind) => errorTable[kind].error);
  return { ...schema, properties: { error: { ...error, examples: numbers }, message } };
}

/** Converts a schema. As in the contract, the format of an integer states its range. */
export function toSchema(schema: z.ZodMiniType): OpenApiObject {
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

function toServiceDescription(server: DescribedServer): string {
  const { statusMode, storeKind, notice } = server;
  const names = contractOperations[server.operations ?? "create"].map(
    (id) => `\`${operations[id].method} ${operations[id].path}\``,
  );
  const isOne = names.length === 1;
  const count = isOne ? "one operation" : `${names.length} operations`;
  return `\
A ${storeKind === "memory" ? "volatile" : "durable"} store of plants with ${count}: ${joinWords(names)}. Every request needs a bearer token. Every
failure of ${isOne ? "the" : "an"} operation has ${statusMode === "http" ? "its usual HTTP status" : "status 400"} and an Error; its \`error\` identifies the failure.${
    notice === undefined ? "" : `\n\n${notice}`
  }`;
}

const credentialDescription = `\
Send \`Authorization: Bearer <ACCESS_TOKEN>\` exactly once with each request. The scheme is case-insensitive. The server
checks the token before it reads the body, and ignores tokens in the query or the body. The server's operator issues
tokens. Tokens issued by plantstore start with \`pst_\`.`;

function toFailureDescription(id: ContractOperationId, server: DescribedServer): string {
  const status =
    server.statusMode === "http"
      ? `\
This server runs with \`--status-mode http\`: the status of a failure is the one that its \`error\` begins with. In the plant
store contract, every failure has status 400. \`error\` is the status times 100, plus a detail number. Numbers are never reused:`
      : `\
Every failure has status 400. \`error\` is the usual HTTP status of the failure times 100, plus a detail number. Numbers are
never reused:`;
  const rows = listFailures(id, server).map(({ error, when }) => `| ${error} | ${when} |`);
  return `\
${status}

| error | when |
| --- | --- |
${rows.join("\n")}

If several rules are broken, \`message\` names all of them, and \`error\` is the first one in the table.`;
}

const conflictWords: Readonly<Record<ConflictPolicy, string>> = {
  reject: `\
A different plant with the same \`id\` is rejected with ${errorTable.idTaken.error}, and the stored plant does not change. If
clients send different plants with one id at the same time, exactly one create succeeds.`,
  replace: `\
A different plant with the same \`id\` replaces the stored plant.`,
};

const goodRequests = {
  fern: { summary: "A plant", value: { id: 1, name: "fern" } },
  tagged: { summary: "With a tag", value: { id: 2, name: "monstera", tag: "pot" } },
};

/** Responses to {@link goodRequests}. */
const goodResponses = {
  fern: { summary: "A plant", value: { name: "fern" } },
  tagged: { summary: "With a tag", value: { name: "monstera", tag: "pot" } },
};

const noCredential = toBadRequest(
  new RequestError(
    "noCredential",
    'no credential: send the header "Authorization: Bearer <ACCESS_TOKEN>"',
  ),
  "a request without an Authorization header",
);

/** Descriptions of invalid creates, with the Error in the response. */
const badRequests = {
  idMissing: toBadBody('{"name":"fern"}'),
  idNotInteger: toBadBody('{"id":"1","name":"fern"}'),
  tagNotString: toBadBody('{"id":1,"name":"fern","tag":null}'),
  notJson: toBadBody(`{"id":1,"name":'fern'}`),
  noCredential,
};

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
