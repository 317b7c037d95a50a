/** The one operation, from a request to its answer (CONTRACT). */
import type { Authenticator } from "../../auth/authenticator.ts";
import { parseCredential } from "../../auth/credential.ts";
import { Refusal } from "../../core/errors.ts";
import { type NewPlant, parseNewPlant, readNewPlant } from "../../core/plant.ts";
import type { ConflictPolicy, CreateResult, PlantStore } from "../../core/store.ts";
import type { BodyMemory } from "./body-memory.ts";
import { checkBodyHeaders, readBody, takeBody } from "./body.ts";
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
 * Creates the plant that a request holds; what is held of it in memory stays so until the caller frees it.
 *
 * @returns a Refusal, not thrown, for what most clients that get one have sent: a body that is broken
 * @throws Refusal at once, or in the promise, for each of the contract's other cases but those of path and method
 * @throws StoreError in the promise, when it could not be stored
 */
export function createPlant(
  exchange: Exchange,
  context: CreateContext,
): Promise<Answer | Refusal> | Refusal {
  const checking = context.authenticator.check(parseCredential(exchange.head.authorizations));
  if (checking === undefined) return takePlant(exchange, context);
  return checking.then<Answer | Refusal>(() => takePlant(exchange, context));
}

/** Goes on when the client is known. */
function takePlant(exchange: Exchange, context: CreateContext): Promise<Answer> | Refusal {
  const { head, request } = exchange;
  if (context.isStopping()) throw new Refusal("shuttingDown", "the server is stopping: try again");
  checkExpectations(head.expectations);
  checkBodyHeaders(head, context.maxBodyBytes);
  context.inflight.refuseIfFull();

  if (request.wholeBody !== undefined) {
    takeBody(exchange, request.wholeBody, context.memory);
    const plant = readNewPlant(request.wholeBody);
    return plant instanceof Refusal ? plant : storePlant(plant, context);
  }
  return readBody(exchange, context.maxBodyBytes, context.memory).then((body) =>
    storePlant(parseNewPlant(body), context),
  );
}

function storePlant(
  plant: NewPlant,
  { inflight, onConflict, store }: CreateContext,
): Promise<Answer> {
  inflight.begin();
  return store.create(plant, onConflict).then(
    (result) => {
      inflight.end();
      return toAnswer(plant, result);
    },
    (error: unknown) => {
      inflight.end();
      throw error;
    },
  );
}

function toAnswer(plant: NewPlant, result: CreateResult): Answer {
  if (result === "conflict") {
    throw new Refusal(
      "idTaken",
      `/id ${plant.id} belongs to a different plant, which stays as it is: choose another id`,
    );
  }
  return toPlantAnswer(plant, result);
}

/** RFC 9110 section 10.1.1 defines one expectation. */
function checkExpectations(expectations: readonly string[]): void {
  if (expectations.every((each) => each.toLowerCase() === "100-continue")) return;
  throw new Refusal("expectation", 'the expectation is not supported: only "100-continue" is');
}
