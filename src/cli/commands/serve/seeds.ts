/** Loads the seeds of `serve`: plants of files, before the first request. */
import { errorTable, RequestError } from "../../../core/errors.ts";
import { toInputName } from "../../../core/messages.ts";
import type { PlantStore } from "../../../core/store.ts";
import {
  checkSeed,
  readSeed,
  type SeedRecord,
  type SeedTally,
  storeSeed,
} from "../../../library/seed.ts";
import { InputSyntaxError } from "../../../records/record-reader.ts";
import { CommandError, UsageError } from "../../command-error.ts";
import { readInputChunks, statReadable, toInputError } from "../../input.ts";
import type { ServeOptions, ServerRun } from "./serve-options.ts";

/**
 * Checks that the files of seeds can be read, before the server listens. A seed of a durable store is checked before it is
 * stored, and read again at the next start.
 */
export async function assertReadableSeeds({ seeds, storeKind }: ServeOptions): Promise<void> {
  if (seeds.indexOf("-") !== seeds.lastIndexOf("-")) {
    throw new UsageError("--seed - (standard input) is given twice: remove one of them");
  }
  for (const path of seeds) {
    const name = `--seed: ${toInputName(path)}`;
    const stats = path === "-" ? undefined : await statReadable(path, name);
    if (storeKind === "memory" || stats?.isFile()) continue;
    throw new CommandError(
      "usage",
      `${name} cannot be read again at the next start: a durable store needs a file; use one, or --store memory:`,
    );
  }
}

/** Checks all records for a durable store, so that a broken seed leaves nothing behind. */
export async function checkSeeds(run: ServerRun): Promise<void> {
  if (run.options.storeKind === "memory") return;
  const error = await run.terminal.showWhile(
    () => "checking seeds",
    () => checkSeed(readSeeds(run)),
  );
  if (error !== undefined) throw toSeedError(error);
}

export async function storeSeeds(
  store: Pick<PlantStore, "create">,
  run: ServerRun,
): Promise<SeedTally> {
  const { onConflict } = run.options;
  let count = 0;
  const onProgress = (stored: number): void => void (count = stored);
  const result = await run.terminal.showWhile(
    () => `loading seeds: ${count} plants`,
    () => storeSeed(store, readSeeds(run), onConflict, onProgress),
  );
  if (result instanceof RequestError) throw toSeedError(result);
  return result;
}

/** Reads all records; ends early once the server is to stop. */
async function* readSeeds(run: ServerRun): AsyncGenerator<SeedRecord, void, undefined> {
  const { options, io, stop } = run;
  const { seeds, maxBodyBytes } = options;
  for (const path of seeds) {
    const chunks = readInputChunks(path, io, stop);
    try {
      yield* readSeed(path, chunks, maxBodyBytes);
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof InputSyntaxError)) throw error;
      throw toInputError(error, "plantstore serve --seed -", "--seed: ");
    }
  }
}

function toSeedError({ error, message }: RequestError): CommandError {
  if (error !== errorTable.idTaken.error) {
    return new CommandError("invalidPlant", `--seed: ${message}`);
  }
  return new CommandError("idTaken", `--seed: ${message}, or start with --on-conflict replace`);
}
