/** The one operation, from a request to its answer (CONTRACT). */
import type { Authenticator } from "../../auth/authenticator.ts";
import { parseCredential } from "../../auth/credential.ts";
import { Refusal } from "../../core/errors.ts";
import { type NewPlant, parseNewPlant } from "../../core/plant.ts";
import type { ConflictPolicy, PlantStore } from "../../core/store.ts";
import type { BodyMemory } from "./body-memory.ts";
import { checkBodyHeaders, readBody } from "./body.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Inflight } from "./inflight.ts";
import { type Answer, toPlantAnswer } from "../exchange/reply.ts";

/** What a create needs beside its request. */
export interface CreateContext {
  readonly store: Pick<PlantStore, "create">;
  readonly authenticator: Pick<Authenticator, "check">;
  readonly maxBodyBytes: number;
  readonly inflight: Inflight;
  readonly memory: BodyMemory;
  readonly onConflict: ConflictPolicy;
  /** Whether the server takes no new work any more. */
  readonly isStopping: () => boolean;
}

/**
 * Creates the plant that a request holds.
 *
 * @throws Refusal for each of the contract's cases but those of path and method
 * @throws StoreError when it could not be stored
 */
export async function createPlant(exchange: Exchange, context: CreateContext): Promise<Answer> {
  const { request, head } = exchange;
  await context.authenticator.check(parseCredential(head.authorizations));
  if (context.isStopping()) throw new Refusal("shuttingDown", "the server is stopping: try again");
  checkExpectation(request.headers.expect);
  checkBodyHeaders(request.headers, head.contentTypes, context.maxBodyBytes);

  context.inflight.refuseIfFull();

  try {
    const plant = parseNewPlant(await readBody(exchange, context.maxBodyBytes, context.memory));
    return await storePlant(plant, context);
  } finally {
    context.memory.free(exchange);
  }
}

async function storePlant(plant: NewPlant, context: CreateContext): Promise<Answer> {
  const result = await context.inflight.run(() => context.store.create(plant, context.onConflict));
  if (result === "conflict") {
    throw new Refusal(
      "idTaken",
      `/id ${plant.id} belongs to a different plant, which stays as it is: choose another id`,
    );
  }
  return toPlantAnswer(plant, result);
}

/** RFC 9110 section 10.1.1 defines one expectation. */
function checkExpectation(expectation: string | undefined): void {
  if (expectation === undefined || expectation.toLowerCase() === "100-continue") return;
  throw new Refusal("expectation", 'the expectation is not supported: only "100-continue" is');
}
