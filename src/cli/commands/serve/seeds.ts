/** Loads the seeds of `serve`: plants of files, before the first request. */
import { promises } from "node:fs";
import { errorTable, RequestError } from "../../../core/errors.ts";
import type { PlantStore } from "../../../core/store.ts";
import {
  checkSeed,
  readSeed,
  type SeedRecord,
  type SeedTally,
  storeSeed,
} from "../../../library/seed.ts";
import { InputSyntaxError } from "../../../records/record.ts";
import { CommandError } from "../../command-error.ts";
import { readChunks, toInputError, toInputName } from "../../input.ts";
import { replayAdvice, type ServerRun } from "./serve-options.ts";

/** The seeds of one start. */
interface Seeds {
  /** True if `serve` was stopped, so that not all records may have been read. */
  readonly isStopped: boolean;
  /** Checks all records for a durable store, so that a broken seed leaves nothing behind. @throws CommandError */
  check(): Promise<void>;
  /** Stores all records. @throws CommandError, StoreError */
  store(store: Pick<PlantStore, "create">): Promise<SeedTally>;
}

/**
 * Opens the seeds.
 *
 * @param stopped stops reading
 * @throws CommandError if a file of a durable store is missing, or is not a regular file
 */
export async function openSeeds(run: ServerRun, stopped: Promise<void>): Promise<Seeds> {
  const { options, io, terminal } = run;
  const { seeds: paths, store: storeUrl, maxBodyBytes, onConflict } = options;
  const isDurable = storeUrl !== "memory:";
  if (isDurable) for (const path of paths) await assertRegularFile(path);
  const stop = new AbortController();
  void stopped.then(() => stop.abort());
  async function* read(): AsyncGenerator<SeedRecord, void, undefined> {
    for (const path of paths) {
      const name = toInputName(path);
      const chunks = readChunks(path, io, stop.signal);
      try {
        yield* readSeed({ name, chunks, maxRecordBytes: maxBodyBytes });
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!(error instanceof InputSyntaxError)) throw error;
        throw new CommandError("usage", `--seed: ${name} ${error.message}`, { cause: error });
      }
    }
  }
  return {
    get isStopped() {
      return stop.signal.aborted;
    },
    async check() {
      if (!isDurable) return;
      const error = await terminal.showWhile(
        () => "checking seeds",
        () => checkSeed(read()),
      );
      if (error !== undefined) throw toCommandError(error);
    },
    async store(store) {
      let count = 0;
      const onProgress = (stored: number): void => void (count = stored);
      const result = await terminal.showWhile(
        () => `loading seeds: ${count} plants`,
        () => storeSeed(store, read(), { onConflict, onProgress }),
      );
      if (result instanceof RequestError) throw toCommandError(result);
      return result;
    },
  };
}

async function assertRegularFile(path: string): Promise<void> {
  const stats = await promises.stat(path).catch((error: unknown) => {
    throw toInputError(path, error);
  });
  // Reading a directory fails with a better message.
  if (stats.isFile() || stats.isDirectory()) return;
  throw new CommandError("usage", `--seed ${path} ${replayAdvice}`);
}

function toCommandError({ error, message }: RequestError): CommandError {
  if (error !== errorTable.idTaken.error) {
    return new CommandError("invalidPlant", `--seed: ${message}`);
  }
  return new CommandError("idTaken", `--seed: ${message}, or start with --on-conflict replace`);
}
