/** Opens a store for `list`, `get` and `export`, formats its plants, and tells a user where else plants may be. */
import { checkReadiness } from "../../../client/check-readiness.ts";
import { type NewPlant, toNewPlantJson } from "../../../core/plant.ts";
import { StoreError, type StoreReader } from "../../../core/store.ts";
import { describeStoreUrl, parseStoreUrl } from "../../../store/store-url.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import type { Io } from "../../io.ts";
import { urlOption } from "../../options.ts";
import { isLocalUrl } from "../../server-access.ts";
import { readOption, type Setting } from "../../settings.ts";
import { readStore } from "../../store-access.ts";
import type { RowType } from "../../terminal/rows.ts";

/** Plants as rows. Their CSV is an input of `create --csv`. */
export const plantRows: RowType<NewPlant> = {
  columns: [
    { name: "id", read: ({ id }) => `${id}`, isNumber: true },
    { name: "name", read: ({ name }) => name, cut: { share: 2, minWidth: 12 } },
    { name: "tag", read: ({ tag }) => tag, cut: { share: 1, minWidth: 8 } },
  ],
  toJson: toNewPlantJson,
};

/** Limit for a request to a server of this machine, in milliseconds. */
const requestTimeoutMs = 1000;

/**
 * Opens a store, names it on a terminal, and reads from it.
 *
 * @throws CommandError if the store is unusable, with a hint; any other StoreError, and every error of `read`
 */
export async function readPlants<T>(
  url: string,
  { io, terminal }: Run,
  read: (store: StoreReader) => Promise<T>,
): Promise<T> {
  try {
    return await readStore(url, async (store) => {
      if (io.stderr.isTTY) await terminal.note(`Store: ${describeStoreUrl(url)}`);
      return read(store);
    });
  } catch (error) {
    if (!(error instanceof StoreError && error.reason === "unusable")) throw error;
    const hints = await explainMissing(url, io);
    throw new CommandError("usage", error.message, { cause: error, hints });
  }
}

/**
 * Explains why a local store may lack a plant: `create` sends plants to a server that uses another store.
 *
 * @returns one sentence, or nothing
 */
export async function explainMissing(storeUrl: string, io: Io): Promise<readonly string[]> {
  if (parseStoreUrl(storeUrl).engine === "postgres") return [];
  const setting = readUrl(io);
  if (setting === undefined) return [];
  const { value: url = "", source } = setting;
  const place = source === urlOption.url.env ? `${source} is` : "the last login was to";
  if (!isLocalUrl(url)) {
    return [
      `${place} ${url}, whose plants are not in this store: run this command on that machine, or set --store to its database`,
    ];
  }
  const { signal } = new AbortController();
  const readiness = await checkReadiness({ baseUrl: url, timeoutMs: requestTimeoutMs, signal });
  if (readiness.state !== "ready" || !readiness.isVolatile) return [];
  return [
    `the server at ${url} keeps its plants in memory, which only that server can read: to read them here, start it without --store memory:`,
  ];
}

/** Ignores invalid settings, which commands that read a store do not need. */
function readUrl(io: Io): Setting<string> | undefined {
  try {
    return readOption(urlOption.url, undefined, io);
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}
