/** The interface description: OpenAPI 3.1, made of the schemas that check the plants (CONTRACT part 1). */
import * as z from "zod/mini";
import { plantStoreInterface } from "./interface.ts";
import * as words from "./openapi-words.ts";
import { errorBodySchema, newPlantSchema, plantSchema } from "./plant.ts";
import type { ConflictPolicy } from "./store.ts";

/** How a server was started, as far as its clients can tell. */
export interface DescribedServer {
  /** Where `/plants` is: scheme, host, port and base path; without a slash at the end. */
  readonly url: string;
  readonly maxBodyBytes: number;
  readonly onConflict: ConflictPolicy;
}

/** An OpenAPI document, or a part of one; integers beyond 2^53 are bigints. */
export interface OpenApiObject {
  readonly [member: string]: OpenApiValue;
}

/** A value in an OpenAPI document. */
type OpenApiValue = string | number | bigint | boolean | readonly OpenApiValue[] | OpenApiObject;

/** The description of a server: the same one for the same server, member by member. */
export function createOpenApiDocument(server: DescribedServer): OpenApiObject {
  return {
    openapi: "3.1.0",
    info: {
      ...plantStoreInterface,
      description: words.serviceDescription,
      contact: { name: "Whoever runs this service" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: server.url }],
    security: [{ bearerAuth: [] }],
    tags: [{ name: "plants", description: "The plants in the store" }],
    paths: { "/plants": { post: describeCreate(server) } },
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

/** A document as JSON text, with every digit of its integers, and a line break at its end. */
export function toOpenApiJson(document: OpenApiObject): string {
  // JSON.stringify takes no bigint: it gets a string with a mark that no text of ours has.
  const mark = "\uE000";
  const text = JSON.stringify(
    document,
    (_, value: unknown) => (typeof value === "bigint" ? `${mark}${value}` : value),
    2,
  );
  return `${text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1")}\n`;
}

function describeCreate({ maxBodyBytes, onConflict }: DescribedServer): OpenApiObject {
  const isRejecting = onConflict === "reject";
  const results = ["created", "unchanged", ...(isRejecting ? [] : ["replaced"])];
  return {
    operationId: "createPlant",
    tags: ["plants"],
    summary: "Creates a new plant in the store",
    description: words.toOperationDescription(onConflict),
    requestBody: {
      description: words.toBodyDescription(maxBodyBytes),
      required: true,
      content: toContent("NewPlant", words.goodRequests),
    },
    responses: {
      200: {
        description: "plant response",
        headers: {
          "X-Plantstore-Result": {
            description: "What the create came to; `unchanged`: the same plant was there already",
            required: true,
            schema: { type: "string", enum: results },
          },
          ...commonHeaders,
        },
        content: toContent("Plant", words.goodAnswers),
      },
      400: {
        description: "unexpected error",
        headers: {
          "WWW-Authenticate": {
            description: "With 40100 to 40103: the challenge of RFC 6750",
            schema: { type: "string" },
          },
          "Retry-After": {
            description: "With 50300 and 50301: seconds after which to try again",
            schema: { type: "integer", minimum: 0 },
          },
          ...commonHeaders,
        },
        content: toContent("Error", {
          ...words.badRequests,
          ...(isRejecting && { idTaken: words.conflictExample }),
        }),
      },
    },
  };
}

const commonHeaders = {
  "Cache-Control": {
    description: "Answers are not for caches",
    required: true,
    schema: { type: "string", const: "no-store" },
  },
  "X-Content-Type-Options": {
    description: "The content type is what it says",
    required: true,
    schema: { type: "string", const: "nosniff" },
  },
};

function toContent(schema: string, examples: OpenApiObject): OpenApiObject {
  return { "application/json": { schema: toReference(schema), examples } };
}

function toReference(schema: string): OpenApiObject {
  return { $ref: `#/components/schemas/${schema}` };
}

/** Every field of a Plant with the same rules, and those of its own. */
function describeNewPlant(): OpenApiObject {
  const members = Object.entries(newPlantSchema.shape);
  const own = z.object(
    Object.fromEntries(members.filter(([name]) => !(name in plantSchema.shape))),
  );
  return { allOf: [toReference("Plant"), toSchema(own)] };
}

/** A schema as the contract writes it: the range of an integer is in its format. */
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
