/** Validates responses against the interface description, with an independent validator (ajv, JSON Schema 2020-12). */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { createOpenApiDocument, toOpenApiJson } from "../../src/core/openapi.ts";

/** A JSON Schema in the document, as far as the tests look into it. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Header {
  readonly required?: boolean;
  readonly schema: Schema;
}

interface MediaType {
  readonly schema: Schema;
  readonly examples: Readonly<Record<string, Example>>;
}

/** An example in the document. */
interface Example {
  readonly summary: string;
  readonly description?: string;
  readonly value: unknown;
}

interface Response {
  readonly headers: Readonly<Record<string, Header>>;
  readonly content: Readonly<Record<string, MediaType>>;
}

/** The document, as far as the tests look into it. */
export interface Description {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: {
    readonly "/plants": {
      readonly post: {
        readonly description: string;
        readonly parameters: readonly { readonly name: string; readonly in: string }[];
        readonly requestBody: {
          readonly description: string;
          readonly content: Readonly<Record<string, MediaType>>;
        };
        readonly responses: Readonly<Record<string, Response>>;
      };
    };
  };
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The parts of a response that the document describes. */
export interface DescribedResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the description of a server, as a client receives it. */
export function readDescription(
  server: Partial<Parameters<typeof createOpenApiDocument>[0]> = {},
): Description {
  const url = "http://127.0.0.1:7526";
  const described = { url, maxBodyBytes: 1024 * 1024, onConflict: "reject", ...server } as const;
  return JSON.parse(toOpenApiJson(createOpenApiDocument(described))) as Description;
}

/** Compiles a validator for a schema that may refer to the document's components. */
export function compileSchema(description: Description, schema: Schema): ValidateFunction {
  const ajv = new Ajv2020({ allErrors: true });
  const isWithin = (bits: number) => (value: number) =>
    value >= -(2 ** (bits - 1)) && value < 2 ** (bits - 1);
  ajv.addFormat("int32", { type: "number", validate: isWithin(32) });
  ajv.addFormat("int64", { type: "number", validate: isWithin(64) });
  ajv.addKeyword("components");
  return ajv.compile({ ...schema, components: description.components });
}

/** Returns a function that throws if the document does not describe a response to `POST /plants`. */
export function createResponseCheck(
  description: Description,
): (response: DescribedResponse) => void {
  const described = new Map(
    Object.entries(description.paths["/plants"].post.responses).map(([status, response]) => {
      const [[mediaType, { schema }] = ["", { schema: {} }]] = Object.entries(response.content);
      const headers = Object.entries(response.headers).map(([name, header]) => {
        return { ...header, name, validate: compileSchema(description, header.schema) };
      });
      return [status, { mediaType, headers, validate: compileSchema(description, schema) }];
    }),
  );
  return (response) => {
    const complain = (what: string): never => {
      throw new Error(`${what} is not as described: ${JSON.stringify(response)}`);
    };
    const known = described.get(String(response.status)) ?? complain("the status");
    if (response.headers["content-type"] !== known.mediaType) complain("the content type");
    if (!known.validate(JSON.parse(response.body))) complain("the body");
    for (const { name, required, schema, validate } of known.headers) {
      const text = response.headers[name.toLowerCase()];
      if (text === undefined ? required === true : !validate(toHeaderValue(text, schema))) {
        complain(name);
      }
    }
  };
}

function toHeaderValue(text: string, { type }: Schema): unknown {
  return type === "integer" ? Number(text) : text;
}
