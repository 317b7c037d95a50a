/** The command `delete`. */
import type { PlantStore } from "../../core/store.ts";
import { plantId } from "../../library/option-types.ts";
import { describeStoreUrl } from "../../store/store-url.ts";
import {
  CommandError,
  interruptible,
  Interruption,
  storeExitCodes,
  UsageError,
} from "../command-error.ts";
import { type CommandBody, type Run, storeCommand } from "../command.ts";
import { IdList, isStandardInput, readIds } from "../id-input.ts";
import { deleteOptions } from "../options/local.ts";
import { parseText, readOptions } from "../options/values.ts";
import { changeStore, toStoreCommand, warnIfElsewhere } from "../store-access.ts";
import { canAsk, confirm } from "../terminal/prompts.ts";

/** `plantstore delete`. */
export const deleteCommand: CommandBody = {
  description: `Deletes the plants with the given ids durably, and names the unknown ids at the
end. Opens the store itself, without a server or a token. Servers may use it at the
same time. It asks on a terminal; elsewhere, it needs --yes. The ids may be created
again. With --json, standard output has one line of JSON per id.
With - instead of ids, it reads one id per line from standard input, or JSON with an
id, as create, list and export print it. It deletes them in batches of 1000: an
invalid line, or Ctrl-C, leaves the plants of its batch and of later ones.
"plantstore help storage" says what remains on the disk.`,
  options: deleteOptions,
  examples: [
    "plantstore delete 7",
    "plantstore delete 7 8 9 --yes",
    "plantstore list --tag pot | plantstore delete --yes -",
    "plantstore delete 7 --store sqlite:/var/lib/plantstore/plants.db",
  ],
  ...storeCommand,
  exitCodes: [...storeExitCodes, "noSuchPlant", "interrupted", "outputClosed", "terminated"],
  run: runDelete,
};

/** Number of ids from standard input that are checked, and then deleted together. */
const batchSize = 1000;

/**
 * Deletes the plants, after the user has agreed. With `--json`, prints one line per id: whether its plant was deleted.
 *
 * @throws CommandError for an invalid id; without consent; if a signal stops it; or for unknown ids, after the other plants
 *   are deleted
 * @throws StoreError if the store cannot be changed; OutputError
 */
export async function runDelete(run: Run): Promise<void> {
  const { flags, operands, io, terminal } = run;
  const { store: url, isConfirmed, json } = readOptions(deleteOptions, flags, io);
  const readsInput = isStandardInput(operands);
  const ids = readsInput ? [] : operands.map((each) => parseText("the id", each, plantId));
  const storeName = `the store ${describeStoreUrl(url)}`;
  if (!isConfirmed && (readsInput || !canAsk(io))) {
    throw new UsageError(
      `delete removes plants from ${storeName} permanently: pass --yes to confirm`,
    );
  }
  const [deleted, missing] = [new IdList(), new IdList()];
  const describeOutcome = (): string =>
    deleted.count === 0
      ? "no plant was deleted"
      : `deleted ${describePlants(deleted)} from ${storeName}`;

  async function deleteBatch(
    store: PlantStore,
    batch: readonly bigint[],
    signal: AbortSignal,
  ): Promise<void> {
    let found = await findIds(store, batch);
    if (found.length > 0) {
      if (!isConfirmed) await askUser(found, storeName, run, signal);
      signal.throwIfAborted();
      found = await deleteFound(store, found, storeName);
    }
    const known = new Set(found);
    deleted.add(found);
    missing.add(batch.filter((id) => !known.has(id)));
    if (!json) return;
    await terminal.printLines(batch.map((id) => `{"id":${id},"deleted":${known.has(id)}}`));
  }

  try {
    await interruptible(
      io,
      (signal) =>
        changeStore(url, { flags, io, terminal, signal }, async (store) => {
          await warnIfElsewhere(url, run, "changes", store);
          const batches = readsInput ? readBatches(readIds(run, signal)) : [[...new Set(ids)]];
          for await (const batch of batches) await deleteBatch(store, batch, signal);
        }),
      describeOutcome,
    );
  } catch (error) {
    const isReported = error instanceof Interruption;
    if (!isReported && (readsInput || deleted.count > 0)) await terminal.note(describeOutcome());
    throw error;
  }
  if (deleted.count > 0) await terminal.note(describeOutcome());
  if (missing.count === 0) return;
  throw new CommandError(
    "noSuchPlant",
    `no plant in ${storeName} has the ${missing.describe()}: "${toStoreCommand("list", run)}" shows all plants`,
  );
}

/** Groups ids into batches, each id once. */
async function* readBatches(
  ids: AsyncIterable<bigint>,
): AsyncGenerator<readonly bigint[], void, undefined> {
  const seen = new Set<bigint>();
  let batch: bigint[] = [];
  for await (const id of ids) {
    if (seen.has(id)) continue;
    seen.add(id);
    batch.push(id);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function findIds(store: PlantStore, ids: readonly bigint[]): Promise<readonly bigint[]> {
  const found: bigint[] = [];
  for (const id of ids) {
    if ((await store.get(id)) !== undefined) found.push(id);
  }
  return found;
}

async function askUser(
  ids: readonly bigint[],
  storeName: string,
  { io }: Run,
  signal: AbortSignal,
): Promise<void> {
  const asked = new IdList();
  asked.add(ids);
  const question = `Delete ${describePlants(asked)} from ${storeName} permanently? [y/N] `;
  if (await confirm(question, io, signal)) return;
  throw new CommandError("usage", "not confirmed: no plant was deleted");
}

async function deleteFound(
  store: PlantStore,
  ids: readonly bigint[],
  storeName: string,
): Promise<readonly bigint[]> {
  const deleted = await store.delete?.(ids);
  if (deleted !== undefined) return deleted;
  throw new CommandError("usage", `${storeName} cannot delete plants`);
}

function describePlants(ids: IdList): string {
  return `${ids.count === 1 ? "the plant" : `${ids.count.toLocaleString("en")} plants`} with the ${ids.describe()}`;
}
