/** The store of `serve --demo`: for the "Try it" of a documentation site, so that nobody can fill it up. */
import type { NewPlant } from "../../../core/plant.ts";
import { type PlantStore, useAndClose } from "../../../core/store.ts";
import { bytesPerUnit } from "../../../library/store-options.ts";
import type { SeedTally } from "../../../library/seed.ts";
import type { CommitListener } from "../../../store/group-commit.ts";
import { fits } from "../../../store/memory.ts";
import { createMemoryStore } from "../../../store/open-store.ts";
import { readPlantPages } from "../../../store/pages.ts";
import { UsageError } from "../../command-error.ts";
import type { ServerRun } from "./serve-options.ts";

/** Limits of the store; its size is that of the plants as JSON. */
const limits = { maxPlants: 10_000, maxBytes: 16 * bytesPerUnit.MiB };

const clearIntervalMs = 3600 * 1000;

/** What visitors should know, on the page and in the description. */
export const demoNotice = `\
This is a demonstration: everybody who has its token can list, replace and delete plants. It keeps at most
${limits.maxPlants.toLocaleString("en")} plants and 16 MiB, and the oldest plants of visitors go when it is full. Every hour it is emptied and has only
its first plants again, so that a plant may be gone after its 200.`;

/** Opens the store with its seeds, which stay until they are deleted or replaced, and empties it every hour. */
export async function openDemoStore(
  run: ServerRun,
  storeSeeds: ((store: PlantStore, run: ServerRun) => Promise<SeedTally>) | undefined,
  onCommit?: CommitListener,
) {
  const seeds: NewPlant[] = [];
  const seeded = await useAndClose(createMemoryStore(), async (first) => {
    const tally = await storeSeeds?.(first, run);
    for await (const page of readPlantPages(first, { limit: Infinity })) seeds.push(...page);
    return tally;
  });
  if (!fits(seeds, limits)) {
    throw new UsageError(
      `--demo keeps at most ${limits.maxPlants} plants and 16 MiB: give it fewer --seed plants`,
    );
  }
  const store = createMemoryStore({ seeds, ...limits }, onCommit);
  clearHourly(store, run);
  return { store, seeded };
}

/** Empties the store every hour, in one step, so that it has only its seeds, until the server is to stop. */
export function clearHourly(
  store: PlantStore,
  { log, stop }: Pick<ServerRun, "log" | "stop">,
): void {
  const clear = (): void => {
    store.clear?.().then(
      () => log.message("info", "Emptied: only the seeds are there"),
      (error: unknown) => log.error(error),
    );
  };
  // The server keeps the process alive. Without one, as after a stop while seeds were read, nothing else would end the timer.
  const timer = setInterval(clear, clearIntervalMs).unref();
  stop.addEventListener("abort", () => clearInterval(timer));
}
