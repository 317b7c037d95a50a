/** Declares the commands that read a store: `list`, `get` and `export`. */
import { type CommandBody, describeVariables, storeHints } from "../../command.ts";
import { storeExitCodes } from "../../exit-codes.ts";
import { exportOptions, jsonStoreOptions, listOptions } from "../../store-options.ts";

const environment = describeVariables("PLANTSTORE_DATA_DIR");

/** `plantstore list`. */
export const listCommand: CommandBody = {
  description: `Lists plants in a store in the order of their ids: as a table on a terminal,
otherwise as one line of JSON per plant. Reads the store itself, without a server
or a token. Servers may write to it at the same time. The command "export" prints
all plants.`,
  options: listOptions,
  examples: [
    "plantstore list",
    "plantstore list --after 100 --limit 20",
    "plantstore list --tag pot --csv > pots.csv",
    "plantstore list --count",
  ],
  environment,
  hints: storeHints,
  exitCodes: [...storeExitCodes, "outputClosed"],
  run: async (run) => (await import("./read.ts")).list(run),
};

/** `plantstore get`. */
export const getCommand: CommandBody = {
  description: `Prints the plants with the given ids, each as one line of JSON, in the order of
the ids. Names the unknown ids at the end. Reads the store itself, without a
server or a token. Servers may write to it at the same time.`,
  options: jsonStoreOptions,
  examples: [
    "plantstore get 1",
    "plantstore get 1 2 3 | jq .name",
    "plantstore get -9223372036854775808",
    "plantstore get 1 --store sqlite:/var/lib/plantstore/plants.db",
  ],
  environment,
  hints: storeHints,
  exitCodes: [...storeExitCodes, "noSuchPlant", "outputClosed"],
  run: async (run) => (await import("./read.ts")).get(run),
};

/** `plantstore export`. */
export const exportCommand: CommandBody = {
  description: `Prints all plants in a store in the order of their ids, as one line of JSON per
plant or as CSV. Reads the store itself, without a server or a token. Servers may write to
it at the same time: every plant that was acknowledged before the export starts
is printed, each id once. Plants that are created during the export may be
printed too. With --follow, it prints the plants in the order of their commits, each
with a cursor, and waits for more until it is interrupted. --after resumes after a
cursor. "plantstore help feed" explains both.`,
  options: exportOptions,
  examples: [
    "plantstore export > plants.ndjson",
    "plantstore export --csv > plants.csv",
    "plantstore export --store sqlite:old.db |",
    "  plantstore create --many --quiet",
    "plantstore export --follow",
  ],
  environment,
  hints: storeHints,
  exitCodes: [...storeExitCodes, "interrupted", "outputClosed", "terminated"],
  run: async (run) => (await import("./export.ts")).exportPlants(run),
};
