/** A client of plant stores for other programs. */
import type { CreateAnswer } from "./client/answer.ts";
import { type NewPlant, toNewPlantJson } from "./core/plant.ts";

/** Which plant store a client talks to, and how patiently. */
export interface PlantClientOptions {
  /** The plant store, with its base path if it has one. */
  readonly url: string;
  readonly token: string;
  /** For each attempt, from the look-up of the name to the last byte of the answer; by default 10,000. */
  readonly timeoutMs?: number;
  /** Attempts after the first, while the store is unavailable; by default 2. They are safe: a create can be repeated. */
  readonly retries?: number;
}

/** A client of one plant store. */
export interface PlantClient {
  /**
   * Creates one plant.
   *
   * @param options `signal` ends it early; it then rejects with the signal's reason, and the plant may or may not be there
   * @returns the Plant and what became of it, or the Error that the store answered with
   * @throws TypeError when the id is no bigint
   * @throws UnavailableError when the last attempt got no answer
   * @throws NotAPlantStoreError when something else answered
   */
  create(plant: NewPlant, options?: { readonly signal?: AbortSignal }): Promise<CreateAnswer>;
}

/**
 * A client of one plant store; it holds nothing open between two creates.
 *
 * @throws TypeError when the URL is none
 */
export function createClient(options: PlantClientOptions): PlantClient {
  const { origin, pathname } = new URL(options.url);
  const { token, timeoutMs = 10_000, retries = 2 } = options;
  const baseUrl = origin + pathname.replace(/\/+$/, "");
  return {
    async create(plant, { signal } = {}) {
      // In JavaScript it could be a number, and have lost digits already.
      if (typeof (plant.id as unknown) !== "bigint") throw new TypeError("id must be a bigint");
      // Whoever only wants the server needs no HTTP client.
      const { createPlant } = await import("./client/create-plant.ts");
      const { attempts: _, ...answer } = await createPlant(toNewPlantJson(plant), {
        baseUrl,
        token,
        timeoutMs,
        mayRetry: (attempts) => attempts <= retries,
        ...(signal && { signal }),
      });
      return answer;
    },
  };
}
