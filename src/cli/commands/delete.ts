/** The command `delete`. */
import type { Deletion } from "../../client/delete-plants.ts";
import { quoteInput, toShellWord } from "../../core/messages.ts";
import type { NewPlant } from "../../core/plant.ts";
import {
  CommandError,
  interruptible,
  Interruption,
  targetExitCodes,
  UsageError,
} from "../command-error.ts";
import { type CommandBody, describeVariables, type Run, tokenAdvice } from "../command.ts";
import { IdList, isStandardInput, readIds } from "../id-input.ts";
import type { Io } from "../io.ts";
import { deleteOptions, targetOptions, plantId } from "../options/local.ts";
import { parseText, readOptions } from "../options/values.ts";
import { describePlace, findPlace, type Place, toMissingError } from "../place.ts";
import type { RemoteStore } from "../remote-store.ts";
import { changeStore } from "../store-access.ts";
import { canAsk, confirm } from "../terminal/prompts.ts";

export const deleteCommand: CommandBody = {
  description: `Deletes the plants with the given ids durably, and names the unknown ids at the
end. It asks on a terminal; elsewhere, it needs --yes. You can use the ids again.
"plantstore help storage" says what remains on the disk.

Acts on the store of this machine, or on the plant store of --url, PLANTSTORE_URL or
the last login: see "plantstore help configuration". Without a terminal, it ignores
a login.

With - instead of ids, it reads one id per line from standard input, or JSON or a table
with an id, as create, list and export print them. It deletes them in batches of 1000: an
invalid line, or Ctrl-C, leaves the plants of its batch and of later ones.`,
  options: { ...deleteOptions, ...targetOptions },
  examples: [
    "plantstore delete 7",
    "plantstore delete 7 8 9 --yes",
    "plantstore list --tag pot | plantstore delete --yes -",
    "plantstore delete 7 --store sqlite:/var/lib/plantstore/plants.db",
    "plantstore delete 7 --url https://plants.example.org/v1",
  ],
  environment: describeVariables("PLANTSTORE_TOKEN"),
  tokenAdvice,
  exitCodes: {
    ...targetExitCodes,
    someMissing: "Some of several deletions failed",
    noSuchPlant: "No such plant, also if others were deleted",
  },
  run: runDelete,
};

/** Members of the line of JSON for an id. `null`: unknown. */
const statusMembers = {
  deleted: '"deleted":true',
  gone: '"deleted":null,"gone":true',
  absent: '"deleted":false',
  failed: '"deleted":null',
} as const;

/** Number of ids from standard input that are checked, and then deleted together. */
const batchSize = 1000;

interface PlantDeleter {
  get(id: bigint): Promise<NewPlant | undefined>;
  /** Returns which of the ids had a plant, as soon as it is known. */
  delete(ids: readonly bigint[]): AsyncIterable<readonly Deletion[]>;
}

async function runDelete(run: Run): Promise<void> {
  const { flags, operands, io, terminal } = run;
  const { isConfirmed, json } = readOptions(deleteOptions, flags, io);
  const place = findPlace(run);
  const name = describePlace(place);
  if (place.foundBy === "login" && !canAsk(io)) {
    const advice = `pass --url ${toShellWord(place.url)}`;
    throw new UsageError(
      `delete needs its place without a terminal, not that of the login: ${advice}`,
    );
  }
  const readsInput = isStandardInput(operands);
  const ids = readsInput ? [] : operands.map((each) => parseText("the id", each, plantId));
  if (!isConfirmed && (readsInput || !canAsk(io))) {
    throw new UsageError(`delete removes plants from ${name} permanently: pass --yes to confirm`);
  }
  const [deleted, gone, missing, failed] = [new IdList(), new IdList(), new IdList(), new IdList()];
  const outcomes = { deleted, gone, absent: missing, failed };
  let firstFailure: Error | undefined;
  const toSummary = (): string => {
    const end =
      (gone.count === 0 ? "" : `; gone: ${describePlants(gone)}`) +
      (failed.count === 0 ? "" : `; failed for ${describePlants(failed)}`);
    return deleted.count === 0
      ? `no plant was deleted from ${name}${end}`
      : `deleted ${describePlants(deleted)} from ${name}${end}`;
  };

  async function report(deletions: readonly Deletion[]): Promise<void> {
    for (const deletion of deletions) {
      if (deletion.status === "failed") firstFailure ??= deletion.failure;
      outcomes[deletion.status].add([deletion.id]);
    }
    if (!json) return;
    await terminal.printLines(
      deletions.map(({ id, status }) => `{"id":${id},${statusMembers[status]}}`),
    );
  }

  try {
    await interruptible(
      io,
      (signal) =>
        openPlace(run, place, signal, async (deleter) => {
          const batches = readsInput ? readBatches(readIds(run, signal)) : [[...new Set(ids)]];
          for await (const batch of batches) {
            if (!isConfirmed) await askUser(batch, deleter, name, io, signal);
            signal.throwIfAborted();
            for await (const deletions of deleter.delete(batch)) await report(deletions);
            signal.throwIfAborted();
          }
          if (firstFailure !== undefined) throw firstFailure;
        }),
      toSummary,
    );
  } catch (error) {
    if (error instanceof Interruption) throw error;
    const absent = missing.count === 0 ? "" : `; no plant has the ${missing.describe()}`;
    // The error alone says enough about a single id.
    if (readsInput || (ids.length > 1 && deleted.count + gone.count + failed.count > 0)) {
      await terminal.note(toSummary() + absent);
    }
    const isOfRequest =
      error instanceof CommandError && (failed.count > 0 || error.exit === "unavailable");
    if (deleted.count + gone.count === 0 || !isOfRequest) throw error;
    const { message, hints, number } = error;
    throw new CommandError("someMissing", message, { cause: error, hints, number });
  }
  if (missing.count === 0) return terminal.success(toSummary());
  if (deleted.count + gone.count > 0) await terminal.note(toSummary());
  throw toMissingError(missing, place, run);
}

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

/** Asks with the name of a single plant, if it can be read. */
async function askUser(
  ids: readonly bigint[],
  deleter: PlantDeleter,
  name: string,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  const asked = new IdList();
  asked.add(ids);
  const [id = 0n] = ids;
  const plant = ids.length === 1 ? await deleter.get(id).catch(() => undefined) : undefined;
  const plantName = plant === undefined ? "" : ` ("${quoteInput(plant.name)}")`;
  const question = `Delete ${describePlants(asked)}${plantName} from ${name} permanently? [y/N] `;
  if (await confirm(question, io, signal)) return;
  throw new CommandError("usage", `not confirmed: no plant was deleted from ${name}`);
}

async function openPlace(
  run: Run,
  place: Place,
  signal: AbortSignal,
  work: (deleter: PlantDeleter) => Promise<void>,
): Promise<void> {
  const { operands } = run;
  if (place.kind === "server") {
    const { useServer } = await import("../remote-store.ts");
    const isMany = operands.length > 1 || isStandardInput(operands);
    const toDeleter = (server: RemoteStore): PlantDeleter => ({
      get: (id) => server.get(id),
      delete: (ids) => server.delete(ids, signal),
    });
    const options = { isMany, deletes: true, signal } as const;
    return useServer(run, place, (server) => work(toDeleter(server)), options);
  }
  return changeStore(run, (store) =>
    work({
      get: (id) => store.get(id),
      async *delete(ids) {
        const deleted = new Set(await store.delete(ids));
        yield ids.map((id) => ({ id, status: deleted.has(id) ? "deleted" : "absent" }));
      },
    }),
  );
}

function describePlants(ids: IdList): string {
  return `${ids.count === 1 ? "the plant" : `${ids.count.toLocaleString("en")} plants`} with the ${ids.describe()}`;
}
