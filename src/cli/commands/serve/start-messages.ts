/** Messages for the operator at the start: banner, risks, and how to call the server. */
import { realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { attempt } from "../../../core/attempt.ts";
import { isLoopback } from "../../../core/base-url.ts";
import { contractOperations } from "../../../core/contract.ts";
import { escapeUnprintable, joinWords, toShellWord } from "../../../core/messages.ts";
import { limitOptions } from "../../../library/store-options.ts";
import type { SeedTally } from "../../../library/seed.ts";
import { parseStoreUrl } from "../../../store/store-url.ts";
import { type HintedMessage, adviseCommand } from "../../command-error.ts";
import { type Environment, type Io, writeText } from "../../io.ts";
import { findUnknownVariables, serveOptions, storeOption } from "../../options/local.ts";
import { urlOption } from "../../options/remote.ts";
import { readOption } from "../../options/values.ts";
import { findServeExposures } from "../../permissions.ts";
import { packageVersion } from "../../version.ts";
import { findSavedOrigin, type FirstToken, isForUser } from "./first-token.ts";
import type { ServeOptions, ServerRun } from "./serve-options.ts";

interface Started {
  readonly url: string;
  /** Undefined for a Unix socket. */
  readonly host: string | undefined;
  readonly token: FirstToken;
  readonly seeded: SeedTally | undefined;
}

/** Prints warnings, and where the server is: for the user of a terminal, or as lines of the log. */
export async function printStart(started: Started, run: ServerRun): Promise<void> {
  const { url, host } = started;
  const { options, io, terminal, log } = run;
  const isShown = isForUser(options, io);
  for (const warning of await listWarnings(started, run)) {
    if (isShown) await terminal.warning(...warning);
    else log.message("warn", warning.join("\n"));
  }
  const rows = toRows(started, options, io);
  if (isShown) {
    // A client needs the absolute path of a socket, which a passed one may not have.
    const isUsable = host !== undefined || url.startsWith("unix:/");
    const usable = isUsable ? rows : rows.filter(({ label }) => label !== "Try");
    await printBanner([...usable, { label: "Stop", text: "Ctrl-C", lines: [] }], url, run);
    return;
  }
  for (const { label, text, lines } of rows) {
    if (lines.length > 0 && label !== "Token") continue;
    // A log keeps what is written to it, so it never gets a token.
    const shown = started.token.kind === "issued" ? [] : lines.map((line) => `  ${line}`);
    log.message("info", [`${label}: ${text}`, ...shown].join("\n"));
  }
  log.message("info", `Listening on ${url}`);
}

interface BannerRow {
  readonly label: string;
  readonly text: string;
  /** Lines below the text, to copy. */
  readonly lines: readonly string[];
}

const indent = "  ";

/** Prints rows on stderr. A stdout on the same terminal continues the last one with the URL. */
async function printBanner(
  rows: readonly BannerRow[],
  url: string,
  { io, terminal, options }: ServerRun,
): Promise<void> {
  const { stderr, stdout } = io;
  const { bold, dim } = await terminal.loadPalette(stderr);
  const width = Math.max(...rows.map(({ label }) => label.length));
  const toRowText = (label: string, text: string): string =>
    `${indent}${dim(label)}${" ".repeat(width - label.length)}${indent}${escapeUnprintable(text)}\n`;
  // With a token, they fit a line of 80 columns, so that the terminal does not break a link.
  const toCopiedLine = (line: string): string => `${indent}${escapeUnprintable(line)}\n`;
  const shown = rows.flatMap(({ label, text, lines }) => [
    toRowText(label, text),
    ...lines.map(toCopiedLine),
  ]);
  const end = toRowText("URL", url);
  const shownEnd = stdout.isTTY && !options.json ? end.slice(0, -`${url}\n`.length) : end;
  const title = bold(`plantstore ${packageVersion} is ready`);
  const banner = [`${title}\n`, ...shown, shownEnd].join("");
  await writeText(stderr, banner).catch(() => {
    // Nothing is left to report a closed stderr to.
  });
}

/** The rows of the banner. The commands in it work as they are printed. */
function toRows(
  { url, token, seeded }: Started,
  { store, isDemo, storeKind, socketFd, statusMode, docs, operations }: ServeOptions,
  io: Io,
): readonly BannerRow[] {
  const command = toInvocation(io);
  // Commands that use the setting report its error.
  const defaultUrl = attempt(() => readOption(urlOption.url, undefined, io).value);
  const option = url === defaultUrl ? "" : ` --url ${toShellWord(url)}`;
  const create = `${command} create${option} --id 1 --name fern`;
  const elsewhere = "in a second terminal";
  const memory = isDemo
    ? "memory, 10,000 plants or 16 MiB: drops the oldest; emptied hourly"
    : "memory, until the server stops";
  const shownStore = storeKind === "memory" ? memory : parseStoreUrl(store).url;
  const rows: BannerRow[] = [];
  const add = (label: string, text: string, ...lines: readonly string[]): void =>
    void rows.push({ label, text, lines });
  add("Store", shownStore);
  if (socketFd !== undefined) add("Socket", "passed to this process (LISTEN_FDS)");
  if (seeded !== undefined) {
    const { created, unchanged, replaced } = seeded;
    add("Seeds", `created ${created}, unchanged ${unchanged}, replaced ${replaced}`);
  }
  if (operations === "all") {
    add("Serves", `${joinWords(contractOperations.all)} (--operations all)`);
  }
  if (statusMode === "http") {
    add("Status", "the first three digits of the error number (--status-mode http)");
  }
  switch (token.kind) {
    case "environment":
      add("Token", "the one in PLANTSTORE_TOKEN");
      add("Try", `${elsewhere} with this PLANTSTORE_TOKEN:`, create);
      break;
    case "saved":
      add("Token", "the one that is saved for this user");
      add("Try", `${elsewhere}:`, create);
      break;
    case "issued": {
      const setToken = token.isSaved ? [] : [`export PLANTSTORE_TOKEN=${token.token}`];
      add("Token", token.isSaved ? "new, saved for this user" : "new, not saved", token.token);
      add("Try", `${elsewhere}:`, ...setToken, create);
      if (!docs || !url.startsWith("http")) break;
      add("Page", "in a browser, with this token:", `${new URL("/", url).href}#${token.token}`);
      break;
    }
    case "none": {
      const line = `${command} token issue${toStoreFlag(store, io)} | ${command} login${option}`;
      add("Token", "none of this store is saved for this user and URL. Log in:", line);
      add("Try", `${elsewhere}:`, create);
    }
  }
  return rows;
}

/** The URL of a database may contain a password, which the user adds. */
function toStoreFlag(store: string, io: Io): string {
  const { absoluteUrl } = parseStoreUrl(store);
  const { value } = readOption(storeOption.store, undefined, io);
  return value === store || value === absoluteUrl ? "" : ` --store ${toShellWord(absoluteUrl)}`;
}

/** Shorter tokens can be guessed: 16 characters of base64 have 96 bits. */
const minTokenLength = 16;

async function listWarnings(
  { url, host }: Started,
  run: ServerRun,
): Promise<readonly HintedMessage[]> {
  const { options, io } = run;
  const { tls, environmentToken, maxConnections, unmetConnections, faults } = options;
  const warnings: HintedMessage[] = [];
  const warn = (...warning: HintedMessage): void => void warnings.push(warning);
  if (tls === undefined && host !== undefined && !isLoopback(host)) {
    warn(
      `tokens arrive at ${host} unencrypted; set --tls-cert and --tls-key on untrusted networks`,
    );
  }
  if (options.isDemo) {
    warn("every reader of the site can list, replace and delete plants");
  }
  if (environmentToken !== undefined && environmentToken.length < minTokenLength) {
    warn(
      `the token in PLANTSTORE_TOKEN has fewer than ${minTokenLength} characters and can be guessed: set a longer one`,
      ...adviseCommand("For example", "openssl rand -hex 32"),
    );
  }
  // The default is a limit, not a request.
  if (unmetConnections !== undefined && unmetConnections !== limitOptions.maxConnections.default) {
    warn(
      `--max-connections is ${maxConnections} instead of ${unmetConnections}, because the process may open few files: raise the limit (ulimit -n)`,
    );
  }
  if (faults !== undefined) {
    const list = serveOptions.faults.type.format(faults);
    warn(`faults are on for tests of clients: --faults "${list}"`);
  }
  const tokenOrigin = findSavedOrigin(options, url);
  warnings.push(...(await findServeExposures(options.store, tokenOrigin, tls?.keyFile, io)));
  if (tls !== undefined) {
    const { findExpiry } = await import("./tls-files.ts");
    const expiry = findExpiry(run);
    if (expiry !== undefined) warn(expiry);
  }
  for (const problem of findUnknownVariables(io.env)) warn(problem.join(" "));
  return warnings;
}

/** npm quotes the name for the shell. */
const npxScript = /^(["']?)plantstore\1(?:\s|$)/;

/**
 * Checks whether `npm start` of plantstore itself or `npx plantstore` started this process. Such a process ends with npm;
 * one that another program of npm started does not.
 */
export function isStartedByNpm({
  npm_lifecycle_event: event,
  npm_lifecycle_script: script = "",
  npm_package_name: packageName,
}: Environment): boolean {
  if (event === "npx") return npxScript.test(script);
  return event === "start" && packageName === "plantstore";
}

/** The words with which a user can run this program from another terminal, for a shell. */
export function toInvocation({ env, script }: Pick<Io, "env" | "script">): string {
  if (script === undefined || isOnPath(script, env)) return "plantstore";
  return `node ${toShellWord(script)}`;
}

/** npm adds these directories for its own processes only. */
const npmDirectory = /[\\/]node_modules[\\/](?:\.bin|npm[\\/].*)$/;

function isOnPath(script: string, env: Environment): boolean {
  const [first] = (env["PATH"] ?? "")
    .split(delimiter)
    .filter((directory) => directory !== "" && !npmDirectory.test(directory))
    .flatMap((directory) => attempt(() => realpathSync(join(directory, "plantstore"))) ?? []);
  return first !== undefined && first === attempt(() => realpathSync(script));
}
