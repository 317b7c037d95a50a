/** Declares the commands for backups of a store: `backup`, `verify` and `restore`. */
import { type CommandBody, describeVariables, storeHints } from "../../command.ts";
import { storeExitCodes } from "../../exit-codes.ts";
import { jsonOption } from "../../options.ts";
import { backupOptions, restoreOptions } from "../../store-options.ts";

const environment = describeVariables("PLANTSTORE_DATA_DIR");
const exitCodes = [...storeExitCodes, "interrupted", "outputClosed", "terminated"] as const;

/** `plantstore backup`. */
export const backupCommand: CommandBody = {
  description: `Copies a SQLite store to a file while servers write to it. Every plant that was
acknowledged before the backup starts is in the file. The file gets its name only
when it is complete and flushed to the disk. On standard output: the file, the
number of plants and the size, as JSON unless it is a terminal.
A backup contains the digests of tokens, not the tokens.`,
  options: backupOptions,
  examples: [
    "plantstore backup plants.backup",
    "plantstore backup --force /mnt/backups/plants.backup",
    "plantstore backup plants.backup --store sqlite:/srv/plants.db",
  ],
  environment,
  hints: storeHints,
  exitCodes,
  run: async (run) => (await import("./backup.ts")).backup(run),
};

/** `plantstore verify`. */
export const verifyCommand: CommandBody = {
  description: `Checks every page of a SQLite file and every plant in it, and changes nothing. The
file may be read-only, or a store that servers use. On standard output: the file,
the numbers of plants and tokens, and the version of the schema, as JSON unless it
is a terminal.`,
  options: jsonOption,
  examples: ["plantstore verify plants.backup", "plantstore verify --json plants.backup"],
  exitCodes: [...storeExitCodes, "outputClosed"],
  run: async (run) => (await import("./backup.ts")).verify(run),
};

/** `plantstore restore`. */
export const restoreCommand: CommandBody = {
  description: `Verifies a backup, and replaces a SQLite store with a copy of it. Stop every
server on the store first: a store that is in use is not replaced. The old store
remains in its directory, under a name with the time. As root, both keep the owner and
the mode of the store. The restored store accepts the tokens that were valid when the
backup was made. Readers of its feed start again.
On standard output: the store, the number of plants, the size and the path of the
old store, as JSON unless it is a terminal.`,
  options: restoreOptions,
  examples: [
    "plantstore restore plants.backup",
    "plantstore restore --force plants.backup",
    "plantstore restore plants.backup --store sqlite:/srv/plants.db",
  ],
  environment,
  hints: storeHints,
  exitCodes,
  run: async (run) => (await import("./backup.ts")).restore(run),
};
