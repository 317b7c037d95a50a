/** The texts of help: examples before the options, the environment and the exit codes after them. */
import { type ExitCodeName, exitCodes } from "./exit-codes.ts";

interface Help {
  /** Before the options. */
  readonly description: string;
  /** After the options. */
  readonly after: string;
}

interface CommandHelp extends Help {
  /** In the list of commands. */
  readonly summary: string;
}

type Item = readonly [term: string, meaning: string];

/** The help of `plantstore` itself. */
export const program: Help = {
  description: `Keeps plants in a durable store, and sends plants to it.

Examples:
  plantstore serve                       start a plant store on this machine
  plantstore create --id 1 --name fern   create a plant, in a second terminal
  plantstore list                        show the plants that are there`,
  after: `
${toEnvironment([["NO_COLOR, FORCE_COLOR", "no colour, or colour everywhere"]])}

${toExitCodes(["done", "internal", "usage"])}
  Each command's help names its own.`,
};

/** The help of `plantstore serve`. */
export const serve: CommandHelp = {
  summary: "start a plant store",
  description: `Serves a plant store over HTTP until it is stopped with Ctrl-C. The first start
issues a token and saves it for "plantstore create" on this machine.

Examples:
  plantstore serve
  plantstore serve --port 8080 --base-path /v1
  plantstore serve --store sqlite:/var/lib/plantstore/plants.db
  PLANTSTORE_TOKEN=... plantstore serve --store memory: --port 0`,
  after: `
${toEnvironment([
  ["PLANTSTORE_TOKEN", "a token to accept beside the issued ones"],
  ["PLANTSTORE_DATA_DIR", "the data directory, in place of the usual one"],
  ["PLANTSTORE_CONFIG_DIR", "the directory of saved tokens and settings"],
])}

${toExitCodes(["done", "internal", "usage"])}`,
};

/** The help of `plantstore create`. */
export const create: CommandHelp = {
  summary: "create plants",
  description: `Creates plants in a plant store: one from --id, --name and --tag, or as many as
files and standard input hold: JSON in any layout (NDJSON, arrays, objects one
after the other), or a table (--csv, --tsv). Of a single plant it prints the
Plant or the Error, of many one line of JSON each, in their order. To repeat it
is safe: what is there already is "unchanged".

Examples:
  plantstore create --id 1 --name fern --tag pot
  plantstore create plants.ndjson --rejects rejects.ndjson
  plantstore create --csv plants.csv --quiet
  tail -f plants.log | plantstore create --many -
  plantstore create plant.json --url https://plants.example.org/v1`,
  after: `
${toEnvironment([
  ["PLANTSTORE_TOKEN", "the token, unless --token-file is given"],
  ["PLANTSTORE_TOKEN_FILE", "file that holds the token"],
  ["PLANTSTORE_CONFIG_DIR", "the directory of saved tokens and settings"],
])}
  A token that "login" or "serve" has saved is sent to exactly the URL's origin.

${toExitCodes([
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
])}`,
};

const readerEnvironment = toEnvironment([
  ["PLANTSTORE_DATA_DIR", "the data directory, in place of the usual one"],
]);
const readerExitCodes: readonly ExitCodeName[] = ["done", "internal", "usage", "unavailable"];

/** The help of `plantstore list`. */
export const list: CommandHelp = {
  summary: "list plants of a store",
  description: `Lists plants of a store, in the order of their ids: on a terminal as a table, else
one as JSON on each line. The store itself is read, without a server or a token;
servers may write to it meanwhile.

Examples:
  plantstore list
  plantstore list --after 100 --limit 20
  plantstore list --tag pot | jq .name`,
  after: `
${readerEnvironment}

${toExitCodes([...readerExitCodes, "outputClosed"])}`,
};

/** The help of `plantstore get`. */
export const get: CommandHelp = {
  summary: "print one plant of a store",
  description: `Prints the plant with this id as one line of JSON. The store itself is read,
without a server or a token; servers may write to it meanwhile.

Examples:
  plantstore get 1
  plantstore get -9223372036854775808 --store sqlite:/var/lib/plantstore/plants.db`,
  after: `
${readerEnvironment}

${toExitCodes([...readerExitCodes, "noSuchPlant", "outputClosed"])}`,
};

/** The help of `plantstore export`. */
export const exportPlants: CommandHelp = {
  summary: "print all plants of a store",
  description: `Prints all plants of a store, in the order of their ids, one as JSON on each line.
The store itself is read, without a server or a token. Servers may write to it
meanwhile: every plant that was acknowledged before is printed, each id once; of
those created meanwhile, some may be.

Examples:
  plantstore export > plants.ndjson
  plantstore export --store sqlite:old.db | plantstore create --many --quiet`,
  after: `
${readerEnvironment}

${toExitCodes([...readerExitCodes, "interrupted", "outputClosed", "terminated"])}`,
};

/** The help of `plantstore openapi`. */
export const openapi: CommandHelp = {
  summary: "print the interface description (OpenAPI)",
  description: `Prints the interface description, OpenAPI 3.1, of a plant store that was started
with the defaults. A running one tells its own, without a token, at /openapi.json.

Examples:
  plantstore openapi > openapi.json
  plantstore openapi --yaml --url https://plants.example.org/v1`,
  after: `
${toExitCodes(["done", "internal", "usage", "outputClosed"])}`,
};

/** The help of `plantstore explain`. */
export const explain: CommandHelp = {
  summary: "explain an error number",
  description: `Says what an error number of a plant store means, what causes it, what to do, and
how "plantstore create" exits with it.

Examples:
  plantstore explain 40900
  plantstore explain idTaken
  plantstore explain | grep token`,
  after: `
${toExitCodes(["done", "internal", "usage", "outputClosed"])}`,
};

/** The help of `plantstore doctor`. */
export const doctor: CommandHelp = {
  summary: "find out what is wrong",
  description: `Looks at all that plantstore rests on here: Node, its directories, every setting
and where it comes from, the store and whether it is sound, the server, the token
and the clock. Of what is wrong it says what to do. It creates and changes nothing
and shows nothing that is secret.

Examples:
  plantstore doctor
  plantstore doctor --url https://plants.example.org/v1
  plantstore doctor --store sqlite:/var/lib/plantstore/plants.db
  plantstore doctor --json | jq '.checks[] | select(.state == "error")'`,
  after: `
${toEnvironment([["PLANTSTORE_*", "every variable that other commands read"]])}

${toExitCodes([
  "done",
  "internal",
  "usage",
  "tokenRefused",
  "unavailable",
  "notAPlantStore",
  "interrupted",
  "outputClosed",
  "terminated",
])}
  Of several errors it is that of the first.`,
};

/** The help of `plantstore completion`. */
export const completion: CommandHelp = {
  summary: "print what completes plantstore in a shell",
  description: `Prints a script for bash, zsh or fish, with which the Tab key completes commands,
options and their values.

Examples:
  source <(plantstore completion bash)      in ~/.bashrc
  source <(plantstore completion zsh)       in ~/.zshrc, after compinit
  plantstore completion fish | source       in ~/.config/fish/config.fish`,
  after: `
${toExitCodes(["done", "internal", "usage"])}`,
};

const loginEnvironment: readonly Item[] = [
  ["PLANTSTORE_CONFIG_DIR", "the directory of saved tokens and settings"],
];

/** The help of `plantstore login`. */
export const login: CommandHelp = {
  summary: "save a token for a plant store",
  description: `Saves a token for a plant store, and makes that the one which is meant where no
other is named. The token is typed without being shown, or read from standard
input. It is tried first, without creating a plant, and sent nowhere else later.

Examples:
  plantstore login --url https://plants.example.org/v1
  plantstore login < plants.token
  plantstore token issue | plantstore login`,
  after: `
${toEnvironment(loginEnvironment)}

${toExitCodes([
  "done",
  "internal",
  "usage",
  "tokenRefused",
  "unavailable",
  "notAPlantStore",
  "interrupted",
  "terminated",
])}`,
};

/** The help of `plantstore logout`. */
export const logout: CommandHelp = {
  summary: "forget the token for a plant store",
  description: `Removes the saved token for a plant store from this machine. It stays good until
it expires or is revoked with "plantstore token revoke".

Examples:
  plantstore logout
  plantstore logout --url https://plants.example.org/v1`,
  after: `
${toEnvironment(loginEnvironment)}

${toExitCodes(["done", "internal", "usage"])}`,
};

/** The help of `plantstore status`. */
export const status: CommandHelp = {
  summary: "show which plant store and token are used, and whether they work",
  description: `Shows which plant store is meant and where that is said, which token is sent
there and where it comes from, who can read the saved one, and whether it works.
That is tried without creating a plant.

Examples:
  plantstore status
  plantstore status --url https://plants.example.org/v1 --json`,
  after: `
${toEnvironment([
  ["PLANTSTORE_TOKEN", "the token, instead of the saved one"],
  ["PLANTSTORE_TOKEN_FILE", "file that holds the token"],
  ...loginEnvironment,
])}

${toExitCodes([
  "done",
  "internal",
  "usage",
  "tokenRefused",
  "unavailable",
  "notAPlantStore",
  "interrupted",
  "outputClosed",
  "terminated",
])}`,
};

/** The help of `plantstore token`. */
export const token: CommandHelp = {
  summary: "issue, list and revoke tokens of a store",
  description: `Tokens decide who may create plants. They belong to a store, and so to whoever
owns it: no server is asked, and running servers follow within a second.

Examples:
  plantstore token issue --name ci --expires 30d
  plantstore token list
  plantstore token revoke ci`,
  after: `
${toExitCodes(readerExitCodes)}`,
};

/** The help of `plantstore token issue`. */
export const tokenIssue: CommandHelp = {
  summary: "make a new token",
  description: `Makes a token for a store and prints it: this once, alone, on standard output.
The store keeps only its digest. Servers take it within a second.

Examples:
  plantstore token issue
  plantstore token issue --name ci --expires 30d > ci.token
  plantstore token issue | plantstore login`,
  after: `
${readerEnvironment}

${toExitCodes([...readerExitCodes, "outputClosed"])}`,
};

/** The help of `plantstore token list`. */
export const tokenList: CommandHelp = {
  summary: "show the tokens of a store",
  description: `Shows each token by its name and its first characters, when it was issued, when
it expires, on which day it was used last, and whether it is good: on a terminal
as a table, else one as JSON on each line.

Examples:
  plantstore token list
  plantstore token list --json | jq -r 'select(.state == "expired").prefix'`,
  after: `
${readerEnvironment}

${toExitCodes([...readerExitCodes, "outputClosed"])}`,
};

/** The help of `plantstore token revoke`. */
export const tokenRevoke: CommandHelp = {
  summary: "make a token worthless",
  description: `Revokes the token of this name, or the one that begins so. Servers refuse it
within a second, also those that run.

Examples:
  plantstore token revoke ci
  plantstore token revoke pst_4fGh`,
  after: `
${readerEnvironment}

${toExitCodes(readerExitCodes)}`,
};

function toEnvironment(variables: readonly Item[]): string {
  return toList("Environment (empty means unset):", variables);
}

function toExitCodes(names: readonly ExitCodeName[]): string {
  return toList(
    "Exit codes:",
    names.map((name) => [String(exitCodes[name].code), exitCodes[name].meaning]),
  );
}

function toList(heading: string, items: readonly Item[]): string {
  const width = Math.max(...items.map(([term]) => term.length));
  const lines = items.map(([term, meaning]) => `  ${term.padEnd(width)}  ${meaning}`);
  return [heading, ...lines].join("\n");
}
