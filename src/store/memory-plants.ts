/** Plants in memory, in the order of their ids, with an optional limit that the oldest of them make room for. */
import { isSamePlant, type NewPlant, toNewPlantJson, toPlant } from "../core/plant.ts";
import type { CommitEntry, ChangeResult, CreateEntry, PlantFilter } from "../core/store.ts";
import { SortedIds } from "./sorted-ids.ts";

/** Options of {@link MemoryPlants}. */
export interface MemoryPlantsOptions {
  /** Plants that are there at first, and after `clear`. They fit into the limits, and go only when they are deleted or replaced. */
  readonly seeds?: readonly NewPlant[];
  readonly maxPlants?: number;
  /** Maximum size of all plants as JSON, in bytes of UTF-8. */
  readonly maxBytes?: number;
}

/** Returns the size of a plant as JSON, in bytes of UTF-8. */
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

  /** Carries out a change. If it exceeds a limit, the oldest plants go, except the seeds. */
  change(entry: CommitEntry): ChangeResult {
    return entry.kind === "create" ? this.#create(entry) : this.#delete(entry.id);
  }

  get(id: bigint): NewPlant | undefined {
    return this.#plants.get(id);
  }

  /** Returns the plants of a filter in the order of their ids. They must not change meanwhile. */
  *select({ afterId, tag }: PlantFilter): Generator<NewPlant, void, undefined> {
    for (const id of this.#ids.after(afterId)) {
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
