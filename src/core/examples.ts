/** Examples of the errors that a client can cause, with a value for each placeholder and with their responses. */
import { errorDetails, type RequestExample } from "./error-details.ts";
import { type ErrorKind, errorKinds, errorTable, RequestError } from "./errors.ts";
import { readNewPlant } from "./read-body.ts";
import {
  fill,
  type FilledRequest,
  fillRequest,
  type Placeholders,
  type RequestTemplate,
} from "./request-template.ts";

/** An example, and the error of its rejected request. */
export interface Example extends RequestExample {
  readonly error: ErrorKind;
}

/** One example for each error that a client can cause, in the order of the error table. */
export const examples: readonly Example[] = errorKinds.flatMap((error) => {
  const { request } = errorDetails[error];
  return "untestable" in request ? [] : [{ ...request, error }];
});

/** Finds the example of an error. @throws RangeError for an error that no client can cause */
export function findExample(kind: ErrorKind): Example {
  const example = examples.find(({ error }) => error === kind);
  if (example === undefined) throw new RangeError(`no example of ${kind}`);
  return example;
}

/** An example as `plantstore openapi --examples` prints it. */
export interface FilledExample {
  readonly error: number;
  /** Name of the error, as in `plantstore explain`. */
  readonly name: ErrorKind;
  readonly when: string;
  readonly accepted: boolean;
  /** Requests to send first. */
  readonly before: readonly FilledRequest[];
  readonly request: FilledRequest;
  readonly response: ExampleResponse;
}

/** Response of a plant store with default options. */
interface ExampleResponse {
  readonly status: number;
  /** All headers except those that differ from response to response. */
  readonly headers: RequestTemplate["headers"];
  readonly body: string;
}

/** The accepted and the rejected request of each example, with responses. The ids count from 1. */
export function listFilledExamples(values: Omit<Placeholders, "id">): FilledExample[] {
  return examples.flatMap((example, index) => {
    const filled = { ...values, id: BigInt(index + 1) };
    const { error, when } = errorTable[example.error];
    const before = example.before === undefined ? [] : [fillRequest(example.before, filled)];
    const result = example.before === undefined ? "created" : "unchanged";
    const { status = 400, headers = [] } = example;
    const common = { error, name: example.error, when } as const;
    return [
      {
        ...common,
        accepted: true,
        before,
        request: fillRequest(example.accepted, filled),
        response: toResponse(200, example.plant, [["X-Plantstore-Result", result]]),
      },
      {
        ...common,
        accepted: false,
        before,
        request: fillRequest(example.rejected, filled),
        response: toResponse(status, JSON.stringify(toErrorBody(example, filled)), headers),
      },
    ];
  });
}

/** Error body of the rejected request of an example. */
export function toErrorBody({ error, message, rejected }: Example, values: Placeholders) {
  const { error: number } = errorTable[error];
  if (message !== undefined) return { error: number, message: fill(message, values) };
  const problem = readNewPlant(fillRequest(rejected, values).body);
  return { error: number, message: problem instanceof RequestError ? problem.message : "" };
}

function toResponse(
  status: number,
  body: string,
  headers: RequestTemplate["headers"],
): ExampleResponse {
  return {
    status,
    headers: [
      ["Content-Type", "application/json"],
      ["Content-Length", String(new TextEncoder().encode(body).length)],
      ["Cache-Control", "no-store"],
      ["X-Content-Type-Options", "nosniff"],
      ...headers,
    ],
    body,
  };
}
