/** The engine that keeps everything in memory. */
import { isSamePlant, type NewPlant, toNewPlantJson, toPlant } from "../core/plant.ts";
import type {
  ChangeResult,
  CommitEntry,
  CreateEntry,
  PlantFilter,
  StoreEngine,
  TokenRecord,
} from "../core/store.ts";
import { takePage } from "./pages.ts";

/** A store in memory, which is empty but for its seeds. */
export function createMemoryEngine(options?: MemoryPlantsOptions): StoreEngine {
  const plants = new MemoryPlants(options);
  const tokens = new Map<string, TokenRecord>();
  let tokenChanges = 0;

  return {
    commit: async (entries) => entries.map((entry) => plants.change(entry)),
    get: async (id) => plants.get(id),
    list: async ({ limit, ...filter }) => takePage(plants.select(filter), limit),
    async count(filter) {
      let count = 0;
      for (const _ of plants.select(filter)) count++;
      return count;
    },
    checkWritable: async () => undefined,
    async addToken(token) {
      tokenChanges++;
      if (!tokens.has(token.digest)) tokens.set(token.digest, token);
    },
    listTokens: async () => [...tokens.values()].toSorted((a, b) => a.issuedAtMs - b.issuedAtMs),
    async readTokens(knownVersion) {
      const version = `${tokenChanges}`;
      return version === knownVersion ? { version } : { version, tokens: [...tokens.values()] };
    },
    async endToken({ digest, ...end }) {
      const token = tokens.get(digest);
      if (token === undefined) return;
      tokenChanges++;
      const expiresAtMs = findEarlier(token.expiresAtMs, end.expiresAtMs);
      const revokedAtMs = findEarlier(token.revokedAtMs, end.revokedAtMs);
      tokens.set(digest, { ...token, expiresAtMs, revokedAtMs });
    },
    async recordTokenUse(digests, day) {
      for (const digest of digests) {
        const token = tokens.get(digest);
        if (token === undefined || (token.lastUsedDay ?? Number.NEGATIVE_INFINITY) >= day) continue;
        tokens.set(digest, { ...token, lastUsedDay: day });
      }
    },
    clear: async () => plants.clear(),
    close: async () => undefined,
  };
}

function findEarlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** Options of {@link MemoryPlants}. */
export interface MemoryPlantsOptions {
  /** Plants that are there at first, and after `clear`. They fit into the limits, and go only when they are deleted or replaced. */
  readonly seeds?: readonly NewPlant[];
  readonly maxPlants?: number;
  /** Maximum size of all plants as JSON, in bytes of UTF-8. */
  readonly maxBytes?: number;
}

function measure(plant: NewPlant): number {
  return Buffer.byteLength(toNewPlantJson(plant));
}

export function fits(
  plants: readonly NewPlant[],
  { maxPlants, maxBytes }: Required<Omit<MemoryPlantsOptions, "seeds">>,
): boolean {
  const bytes = plants.reduce((sum, plant) => sum + measure(plant), 0);
  return plants.length <= maxPlants && bytes <= maxBytes;
}

/** Plants in the order of their ids. If they exceed a limit, the oldest go, except the seeds. */
export class MemoryPlants {
  readonly #seeds: readonly NewPlant[];
  readonly #maxPlants: number;
  readonly #maxBytes: number;
  readonly #plants = new Map<bigint, NewPlant>();
  readonly #ids = new SortedIds();
  /** Ids of the plants that are no seeds, in the order in which they were stored. */
  readonly #others = new Set<bigint>();
  #bytes = 0;

  constructor({ seeds = [], maxPlants = Infinity, maxBytes = Infinity }: MemoryPlantsOptions = {}) {
    this.#seeds = seeds;
    this.#maxPlants = maxPlants;
    this.#maxBytes = maxBytes;
    this.#addSeeds();
  }

  change(entry: CommitEntry): ChangeResult {
    return entry.kind === "create" ? this.#create(entry) : this.#delete(entry.id);
  }

  get(id: bigint): NewPlant | undefined {
    return this.#plants.get(id);
  }

  /** Returns the plants of a filter in the order of their ids. They must not change meanwhile. */
  *select({ after, tag }: PlantFilter): Generator<NewPlant, void, undefined> {
    for (const id of this.#ids.after(after)) {
      const plant = this.#plants.get(id);
      if (plant !== undefined && (tag === undefined || plant.tag === tag)) yield plant;
    }
  }

  /** Removes all plants but the seeds, which are there again. */
  clear(): void {
    this.#plants.clear();
    this.#ids.clear();
    this.#others.clear();
    this.#bytes = 0;
    this.#addSeeds();
  }

  #addSeeds(): void {
    for (const seed of this.#seeds) this.#set(seed);
  }

  #create({ plant, onConflict }: CreateEntry): ChangeResult {
    const { id } = plant;
    const stored = this.#plants.get(id);
    if (stored !== undefined && isSamePlant(stored, plant)) return "unchanged";
    if (stored !== undefined && onConflict === "reject") return "conflict";
    if (stored !== undefined) this.#delete(id);
    // Strings cut out of a request's body keep all of it in memory; those of a clone stand alone.
    this.#set({ id, ...structuredClone(toPlant(plant)) });
    this.#others.add(id);
    this.#makeRoom();
    return stored === undefined ? "created" : "replaced";
  }

  #set(plant: NewPlant): void {
    this.#plants.set(plant.id, plant);
    this.#ids.add(plant.id);
    this.#bytes += this.#measure(plant);
  }

  #delete(id: bigint): ChangeResult {
    const plant = this.#plants.get(id);
    if (plant === undefined) return "absent";
    this.#plants.delete(id);
    this.#ids.delete(id);
    this.#others.delete(id);
    this.#bytes -= this.#measure(plant);
    return "deleted";
  }

  #measure(plant: NewPlant): number {
    return this.#maxBytes === Infinity ? 0 : measure(plant);
  }

  #makeRoom(): void {
    for (const id of this.#others) {
      if (this.#plants.size <= this.#maxPlants && this.#bytes <= this.#maxBytes) return;
      this.#delete(id);
    }
  }
}

/** Maximum number of ids in a chunk: an insertion moves at most as many. */
const maxChunk = 1024;

/** A set of ids in ascending order. Adding or deleting one of a million takes microseconds. */
export class SortedIds {
  /** Ascending; none is empty. */
  #chunks: bigint[][] = [];

  /** Adds an id that is not in the set. */
  add(id: bigint): void {
    // Ids beyond the last chunk extend it, so that ascending ids move nothing.
    const index = Math.min(this.#findChunk(id), this.#chunks.length - 1);
    const chunk = this.#chunks[index];
    if (chunk === undefined) {
      this.#chunks.push([id]);
      return;
    }
    chunk.splice(countUpTo(chunk, id), 0, id);
    if (chunk.length > maxChunk) this.#chunks.splice(index + 1, 0, chunk.splice(maxChunk / 2));
  }

  /** Removes an id that is in the set. */
  delete(id: bigint): void {
    const index = this.#findChunk(id);
    const chunk = this.#chunks[index] ?? [];
    chunk.splice(countUpTo(chunk, id) - 1, 1);
    if (chunk.length === 0) this.#chunks.splice(index, 1);
  }

  clear(): void {
    this.#chunks = [];
  }

  /** Returns the ids after one, or all, in ascending order. The set must not change meanwhile. */
  *after(id: bigint | undefined): Generator<bigint, void, undefined> {
    const first = id === undefined ? 0 : this.#findChunk(id);
    for (let index = first; index < this.#chunks.length; index++) {
      const chunk = this.#chunks[index] ?? [];
      const start = id === undefined || index > first ? 0 : countUpTo(chunk, id);
      for (let position = start; position < chunk.length; position++) {
        yield chunk[position] as bigint;
      }
    }
  }

  /** Returns the index of the first chunk that ends with this id or a larger one; their number if none does. */
  #findChunk(id: bigint): number {
    return findFirst(this.#chunks.length, (index) => (this.#chunks[index]?.at(-1) ?? id) >= id);
  }
}

/** Returns the number of ids up to and including this one. */
function countUpTo(ids: readonly bigint[], id: bigint): number {
  return findFirst(ids.length, (index) => (ids[index] ?? id) > id);
}

/** Returns the first index that passes a test, by bisection; `length` if none does. Those after it must pass too. */
function findFirst(length: number, isPassed: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isPassed(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
