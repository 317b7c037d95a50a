/** The command `delete`. */
import type { PlantStore } from "../../core/store.ts";
import { plantId } from "../../library/option-types.ts";
import { describeStoreUrl } from "../../store/store-url.ts";
import { CommandError, interruptible, storeExitCodes, UsageError } from "../command-error.ts";
import { type CommandBody, describeVariables, type Run, storeHints } from "../command.ts";
import { deleteOptions } from "../options/local.ts";
import { parseArgument, readOptions } from "../options/values.ts";
import { changeStore, warnIfElsewhere } from "../store-access.ts";
import { canAsk, confirm } from "../terminal/prompts.ts";

/** `plantstore delete`. */
export const deleteCommand: CommandBody = {
  description: `Deletes the plants with the given ids durably, and names the unknown ids at the
end. Opens the store itself, without a server or a token. Servers may use it at the
same time. It asks on a terminal; elsewhere, it needs --yes. The ids may be created
again. With --json, standard output has one line of JSON per id.
"plantstore help storage" says what remains on the disk.`,
  options: deleteOptions,
  examples: [
    "plantstore delete 7",
    "plantstore delete 7 8 9 --yes",
    "plantstore delete 7 8 9 --yes --json | jq 'select(.deleted)'",
    "plantstore delete 7 --store sqlite:/var/lib/plantstore/plants.db",
  ],
  environment: describeVariables("PLANTSTORE_DATA_DIR"),
  hints: storeHints,
  exitCodes: [...storeExitCodes, "noSuchPlant", "interrupted", "outputClosed", "terminated"],
  run: runDelete,
};

/** Largest number of ids in a message. */
const maxIds = 20;

/**
 * Deletes the plants, after the user has agreed. With `--json`, prints one line per id: whether its plant was deleted.
 *
 * @throws CommandError for an invalid id; without consent; or for unknown ids, after the other plants are deleted
 * @throws StoreError if the store cannot be changed; OutputError
 */
export async function runDelete(run: Run): Promise<void> {
  const { flags, operands, io, terminal } = run;
  const { store: url, isConfirmed, json } = readOptions(deleteOptions, flags, io);
  const ids = [...new Set(operands.map((operand) => parseArgument("the id", operand, plantId)))];
  const place = `the store ${describeStoreUrl(url)}`;
  if (!isConfirmed && !canAsk(io)) {
    throw new UsageError(`delete removes plants from ${place} permanently: pass --yes to confirm`);
  }
  const deleted = await interruptible(
    io,
    (signal) =>
      changeStore(url, { flags, io, terminal, signal }, async (store) => {
        await warnIfElsewhere(url, run, "changes", store);
        const found = await findIds(store, ids);
        if (found.length === 0) return found;
        if (!isConfirmed) await askUser(found, place, run, signal);
        signal.throwIfAborted();
        return deleteFound(store, found, place);
      }),
    "no plant was deleted",
  );
  if (deleted.length > 0) await terminal.note(`deleted ${describePlants(deleted)} from ${place}`);
  const known = new Set(deleted);
  if (json) {
    await terminal.printLines(ids.map((id) => `{"id":${id},"deleted":${known.has(id)}}`));
  }
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length === 0) return;
  throw new CommandError(
    "noSuchPlant",
    `no plant in ${place} has the ${listIds(missing)}: "plantstore list" shows all plants`,
  );
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
  place: string,
  { io }: Run,
  signal: AbortSignal,
): Promise<void> {
  const question = `Delete ${describePlants(ids)} from ${place} permanently? [y/N] `;
  if (await confirm(question, io, signal)) return;
  throw new CommandError("usage", "not confirmed: no plant was deleted");
}

async function deleteFound(
  store: PlantStore,
  ids: readonly bigint[],
  place: string,
): Promise<readonly bigint[]> {
  const deleted = await store.delete?.(ids);
  if (deleted !== undefined) return deleted;
  throw new CommandError("usage", `${place} cannot delete plants`);
}

function describePlants(ids: readonly bigint[]): string {
  const noun = ids.length === 1 ? "the plant" : `${ids.length} plants`;
  return `${noun} with the ${listIds(ids)}`;
}

function listIds(ids: readonly bigint[]): string {
  const more = ids.length > maxIds ? ` and ${ids.length - maxIds} more` : "";
  return `${ids.length === 1 ? "id" : "ids"} ${ids.slice(0, maxIds).join(", ")}${more}`;
}
