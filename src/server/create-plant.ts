/** The create operation: from a request to its response (contract.md). */
import { RequestError, toIdTakenError } from "../core/errors.ts";
import { readNewPlant } from "../core/read-body.ts";
import type { ConflictPolicy } from "../core/store.ts";
import type { Admission } from "./admission.ts";
import type { Faults } from "./faults.ts";
import type { ServerBackend } from "./options.ts";
import type { BodyResult, HttpRequest } from "./request.ts";
import { type RequestResult, toPlantResponse } from "./response.ts";

/** Options for {@link createPlant}. */
export interface CreateOptions {
  readonly admission: Admission;
  readonly maxBodyBytes: number;
  readonly onConflict: ConflictPolicy;
  readonly faults?: Pick<Faults, "perform"> | undefined;
}

/** Creates the plant in a request. Only the store is asynchronous, unless the body has not arrived yet. */
export function createPlant(
  request: HttpRequest,
  store: ServerBackend["store"],
  options: CreateOptions,
): RequestResult | Promise<RequestResult> {
  const { admission, maxBodyBytes } = options;
  const error = request.checks.checkBody(maxBodyBytes) ?? admission.checkCreates();
  if (error !== undefined) return error;
  const body = request.readBody(maxBodyBytes);
  return body instanceof Promise
    ? body.then((read) => storePlant(read, store, options))
    : storePlant(body, store, options);
}

/** @throws StoreError when the store fails */
async function storePlant(
  body: BodyResult,
  store: ServerBackend["store"],
  { admission, onConflict, faults }: CreateOptions,
): Promise<RequestResult> {
  const plant = body instanceof RequestError ? body : readNewPlant(body);
  if (plant instanceof RequestError) return plant;
  const error = admission.beginCreate();
  if (error !== undefined) return error;
  const create = async (): Promise<RequestResult> => {
    const requestedAtMs = performance.now();
    let plants = 0;
    const onCommit = (count: number): void => void (plants = count);
    const result = await store.create(plant, onConflict, onCommit);
    if (result === "conflict") return toIdTakenError(plant.id);
    const durableAtMs = performance.now();
    const waitMs = durableAtMs - requestedAtMs;
    return toPlantResponse(plant, result, { durableAtMs, waitMs, plants });
  };
  try {
    return await (faults === undefined ? create() : faults.perform(create));
  } finally {
    admission.endCreate();
  }
}
