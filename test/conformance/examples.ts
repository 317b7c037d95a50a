/** Examples of the errors that a client can cause, and their responses. */
import { type ErrorKind, errorKinds, errorTable, RequestError } from "../../src/core/errors.ts";
import { readNewPlant } from "../../src/core/read-plant.ts";
import { errorRequests, type RequestExample } from "./error-requests.ts";
import { fill, fillRequest, type Placeholders } from "./request-template.ts";

/** An example, and the error of its rejected request. */
export interface Example extends RequestExample {
  readonly error: ErrorKind;
}

/** One example for each error that a client can cause, in the order of the error table. */
export const examples: readonly Example[] = errorKinds.flatMap((error) => {
  const request = errorRequests[error];
  return "rejected" in request ? [{ ...request, error }] : [];
});

/** Error body of the rejected request of an example. */
export function toErrorBody({ error, message, rejected }: Example, values: Placeholders) {
  const { error: number } = errorTable[error];
  if (message !== undefined) return { error: number, message: fill(message, values) };
  const problem = readNewPlant(fillRequest(rejected, values).body);
  return { error: number, message: problem instanceof RequestError ? problem.message : "" };
}
