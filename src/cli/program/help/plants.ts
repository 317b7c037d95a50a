/** Help of the commands for plants: those that serve, create and read them. */
import type { ExitCodeName } from "../../exit-codes.ts";
import type { CommandHelp } from "./command-help.ts";
import { configDirectory, dataDirectory } from "./environment.ts";

/** `plantstore serve`. */
export const serve: CommandHelp = {
  summary: "start a plant store",
  text: `Serves a plant store over HTTP until it is stopped with Ctrl-C. The first start
issues a token and saves it for "plantstore create" on this machine.`,
  examples: [
    "plantstore serve",
    "plantstore serve --port 8080 --base-path /v1",
    "plantstore serve --store sqlite:/var/lib/plantstore/plants.db",
    "plantstore serve --store memory: --port 0",
    "plantstore serve --host :: --tls-cert cert.pem --tls-key key.pem",
  ],
  environment: [
    ["PLANTSTORE_TOKEN", "a token to accept beside the issued ones"],
    dataDirectory,
    configDirectory,
  ],
  exitCodes: ["done", "internal", "usage"],
};

/** `plantstore create`. */
export const create: CommandHelp = {
  summary: "create plants",
  text: `Creates plants in a plant store: one from --id, --name and --tag, or as many as
files and standard input hold: JSON in any layout (NDJSON, arrays, objects one
after the other), or a table (--csv, --tsv). Of a single plant it prints the
Plant or the Error, of many one line of JSON each, in their order. To repeat it
is safe: what is there already is "unchanged".`,
  examples: [
    "plantstore create --id 1 --name fern --tag pot",
    "plantstore create plants.ndjson --rejects rejects.ndjson",
    "plantstore create --csv plants.csv --quiet",
    "tail -f plants.log | plantstore create --many -",
    "plantstore create plant.json --url https://plants.example.org/v1",
  ],
  environment: [
    ["PLANTSTORE_TOKEN", "the token, unless --token-file is given"],
    ["PLANTSTORE_TOKEN_FILE", "file that holds the token"],
    configDirectory,
  ],
  environmentNote: `A token that "login" or "serve" has saved is sent to exactly the URL's origin.`,
  exitCodes: [
    "done",
    "internal",
    "usage",
    "invalidPlant",
    "tokenRefused",
    "idTaken",
    "unavailable",
    "notAPlantStore",
    "someMissing",
    "interrupted",
    "outputClosed",
    "terminated",
  ],
};

const readerExitCodes: readonly ExitCodeName[] = ["done", "internal", "usage", "unavailable"];

/** `plantstore list`. */
export const list: CommandHelp = {
  summary: "list plants of a store",
  text: `Lists plants of a store, in the order of their ids: on a terminal as a table,
else one as JSON on each line. The store itself is read, without a server or a
token; servers may write to it meanwhile.`,
  examples: [
    "plantstore list",
    "plantstore list --after 100 --limit 20",
    "plantstore list --tag pot | jq .name",
  ],
  environment: [dataDirectory],
  exitCodes: [...readerExitCodes, "outputClosed"],
};

/** `plantstore get`. */
export const get: CommandHelp = {
  summary: "print one plant of a store",
  text: `Prints the plant with this id as one line of JSON. The store itself is read,
without a server or a token; servers may write to it meanwhile.`,
  examples: [
    "plantstore get 1",
    "plantstore get -9223372036854775808",
    "plantstore get 1 --store sqlite:/var/lib/plantstore/plants.db",
  ],
  environment: [dataDirectory],
  exitCodes: [...readerExitCodes, "noSuchPlant", "outputClosed"],
};

/** `plantstore export`. */
export const exportPlants: CommandHelp = {
  summary: "print all plants of a store",
  text: `Prints all plants of a store, in the order of their ids, one as JSON on each
line. The store itself is read, without a server or a token. Servers may write
to it meanwhile: every plant that was acknowledged before is printed, each id
once; of those created meanwhile, some may be.`,
  examples: [
    "plantstore export > plants.ndjson",
    "plantstore export --store sqlite:old.db |",
    "  plantstore create --many --quiet",
  ],
  environment: [dataDirectory],
  exitCodes: [...readerExitCodes, "interrupted", "outputClosed", "terminated"],
};
