/** A client of plant stores for other programs. */
import type { CreateAnswer } from "./client/answer.ts";
import { InvalidUrl, parseBaseUrl } from "./core/base-url.ts";
import { patienceRanges } from "./core/patience.ts";
import { type NewPlant, toNewPlantJson } from "./core/plant.ts";
import { checkNumber, checkToken, wrong } from "./option-checks.ts";

/** Which plant store a client talks to, and how patiently. */
export interface PlantClientOptions {
  /** The plant store, with its base path if it has one: `http:` or `https:`, without a user, a query or a fragment. */
  readonly url: string;
  readonly token: string;
  /**
   * For each attempt, from the look-up of the name to the last byte of the answer: 1 … 86400000 (a day); by default
   * 10,000.
   */
  readonly timeoutMs?: number;
  /**
   * Attempts after the first, while the store is unavailable: 0 … 100; by default 2. They are safe: a create can be
   * repeated.
   */
  readonly retries?: number;
}

/** A client of one plant store. */
export interface PlantClient {
  /**
   * Creates one plant.
   *
   * @param options `signal` ends it early; it then rejects with the signal's reason, and the plant may or may not be there
   * @returns the Plant and what became of it, or the Error that the store answered with
   * @throws TypeError when the id is no bigint, or the name or the tag no string
   * @throws UnavailableError when the last attempt got no answer
   * @throws NotAPlantStoreError when something else answered
   */
  create(plant: NewPlant, options?: { readonly signal?: AbortSignal }): Promise<CreateAnswer>;
}

/**
 * A client of one plant store; it holds nothing open between two creates.
 *
 * @throws TypeError when an option is not what it must be; RangeError when a number is too small or too large, or not whole
 */
export function createClient(options: PlantClientOptions): PlantClient {
  const baseUrl = checkUrl(options.url);
  const token = checkToken(options.token);
  const timeoutMs = checkNumber("timeoutMs", options.timeoutMs ?? 10_000, patienceRanges.timeoutMs);
  const retries = checkNumber("retries", options.retries ?? 2, patienceRanges.retries);
  return {
    async create(plant, { signal } = {}) {
      checkTypes(plant);
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

function checkUrl(url: unknown): string {
  if (typeof url !== "string") throw wrong("url", url, "the URL of a plant store");
  try {
    return parseBaseUrl(url);
  } catch (error) {
    throw error instanceof InvalidUrl ? new TypeError(`url ${error.message}`) : error;
  }
}

/** In JavaScript an id could be a number, and have lost digits already; and what is no text would be sent as one. */
function checkTypes({ id, name, tag }: { readonly [Key in keyof NewPlant]?: unknown }): void {
  if (typeof id !== "bigint") throw new TypeError("id must be a bigint");
  if (typeof name !== "string") throw new TypeError("name must be a string");
  if (tag !== undefined && typeof tag !== "string") {
    throw new TypeError("tag must be a string, or be left out");
  }
}
