/** The command `status`: prints the facts of an inspection. */
import { relative } from "node:path";
import { toTokenPrefix } from "../../auth/token.ts";
import { attempt } from "../../core/attempt.ts";
import { isOfOtherUrl } from "../../client/wrong-path.ts";
import { isLocalUrl, toEndpoint } from "../../core/base-url.ts";
import { redactTokens } from "../../core/messages.ts";
import { exitCodes, interruptible, requestExitCodes } from "../command-error.ts";
import { type CommandBody, commandGroups, type Item, type Run, serverHints } from "../command.ts";
import type { FileReaders } from "../config/saved-tokens.ts";
import { type Io, writeText } from "../io.ts";
import { requestOptions, statusOptions, statusReportOptions } from "../options/remote.ts";
import { readOptions } from "../options/values.ts";
import type { ServerInspection } from "../token-check.ts";
import type { DirectoryReport, SettingReport } from "./inspection.ts";

/** `plantstore status`. */
export const statusCommand: CommandBody = {
  description: `Shows which server commands such as "create" use, whether it can be reached and
accepts the token, and which store commands such as "list" open. Shows the
directories too, and each setting that is not at its default. Every value has its
source: a flag, an environment variable, a file, or the default. Creates no plant
and opens no store.`,
  options: statusOptions,
  examples: [
    "plantstore status",
    "plantstore status --all",
    "plantstore status --url https://plants.example.org/v1",
    "plantstore status --json | jq .works",
  ],
  environment: [["PLANTSTORE_*", "Every variable of the other commands"]],
  hints: serverHints,
  exitCodes: [...requestExitCodes, "outputClosed"],
  exitCodesNote: "The code is also 2 if a setting is invalid.",
  tokenAdvice: `run "plantstore login", which asks for it`,
  run: printStatus,
};

/**
 * Prints the report, and checks the server and the token.
 *
 * @returns the exit code: 2 if a setting is invalid, 0 if the token works, otherwise that of a create with it
 * @throws UsageError for an invalid flag; OutputError
 */
async function printStatus(run: Run): Promise<number> {
  const { flags, io, terminal } = run;
  const { stdout } = io;
  const { json, showsAll } = readOptions(statusReportOptions, flags, io);
  // An invalid flag is wrong usage. Any other invalid setting is part of the report.
  const given = Object.entries(requestOptions).filter(([name]) => flags[name] !== undefined);
  readOptions(Object.fromEntries(given), flags, io);
  const inspection = await import("./inspection.ts");
  const { inspectServer } = await import("../token-check.ts");
  const all = inspection.listSettings(flags, io);
  const invalid = all.find(({ problem, source }) => problem && source === undefined);
  const target = inspection.readTarget(flags, io);
  const { exitCode, ...server } =
    target === undefined
      ? { works: false, problem: invalid?.problem, exitCode: exitCodes.usage.code }
      : await interruptible(io, async (signal) =>
          toServerReport(await inspectServer(target, run, signal), run),
        );
  const url = findSetting(all, "--url");
  const store = findSetting(all, "--store");
  const exists = store.value === undefined ? undefined : await inspection.storeExists(store.value);
  const problem =
    store.value === undefined ? undefined : await inspection.findStoreProblem(store.value);
  const config = (await inspection.inspectDirectory("config", io)).report;
  const data = (await inspection.inspectDirectory("data", io)).report;
  const settings = all.filter(({ source }) => showsAll === true || source !== "the default");
  if (json) {
    const report = {
      url: url.value,
      urlSource: url.source,
      ...server,
      store: store.value,
      storeSource: store.source,
      storeExists: exists,
      storeProblem: problem,
      directories: { config, data },
      settings,
    };
    await terminal.printLines([redactTokens(JSON.stringify(report))]);
    return invalid === undefined ? exitCode : exitCodes.usage.code;
  }
  const { toItems } = await import("../terminal/table.ts");
  const width = stdout.isTTY ? stdout.columns : undefined;
  const places = toItems(
    [
      [commandGroups.remote, [["Server", toMeaning(url)], ...toServerItems(server, config)]],
      [
        commandGroups.local,
        [
          ["Store", toMeaning({ ...store, problem: problem ?? store.problem }, exists)],
          ...toElsewhereItems(url.value, store),
        ],
      ],
      [
        "Directories:",
        [
          ["Config", toMeaning({ ...config, value: config.path }, config.exists)],
          ["Data", toMeaning({ ...data, value: data.path }, data.exists)],
        ],
      ],
    ],
    width,
  );
  const others = settings
    .filter((setting) => setting !== url && setting !== store)
    .map((setting) => [setting.flag, toMeaning(setting)] as const);
  const rest =
    others.length === 0
      ? 'Other settings: all at their defaults ("plantstore status --all" shows them)\n'
      : toItems([["Other settings:", others]], width);
  await writeText(stdout, redactTokens(`${places}\n${rest}`));
  return invalid === undefined ? exitCode : exitCodes.usage.code;
}

function findSetting(all: readonly SettingReport[], flag: string): SettingReport {
  return all.find((setting) => setting.flag === flag) ?? { flag, variable: "" };
}

/** Identifies a certificate of an authority. */
interface SavedCertificate {
  /** Fingerprint, as OpenSSL prints it. */
  readonly sha256: string;
  /** Date and time in UTC. */
  readonly expires: string;
}

/** The server and its token. Printed as JSON. */
interface ServerReport {
  /** True if a plant store responds, at this path. Absent if a setting is invalid, so that it was not checked. */
  readonly reachable?: boolean;
  /** Why it is not reachable. */
  readonly serverProblem?: string | undefined;
  /** Absent without a token. */
  readonly tokenSource?: string | undefined;
  /** Absent for a token that plantstore did not issue. */
  readonly tokenPrefix?: string | undefined;
  /** The file of the token that is saved for this URL, used or not. */
  readonly savedIn?: string | undefined;
  /** Certificates that are saved for this URL, used or not. */
  readonly savedCertificates?: readonly SavedCertificate[] | undefined;
  /** Absent on Windows. */
  readonly readableBy?: FileReaders | undefined;
  /** Other plant stores with a saved token. */
  readonly otherOrigins?: readonly string[];
  /** True if the plant store accepts the token. */
  readonly works: boolean;
  /** The number of the Error. */
  readonly error?: number | undefined;
  /** Why the token does not work. */
  readonly problem?: string | undefined;
}

async function toServerReport(
  { target, found, check, failure }: ServerInspection,
  { io, terminal }: Run,
): Promise<ServerReport & { readonly exitCode: number }> {
  const problem = findServerProblem(check);
  const reachable = problem === undefined;
  const hasToken = "token" in found;
  if (hasToken) {
    const { warnAboutPlaintext } = await import("../server-access.ts");
    await warnAboutPlaintext(target.url, terminal);
  }
  const reason = hasToken ? failure : found;
  const saved = await describeSaved(toEndpoint(target.url).origin, io);
  // The message about a missing server is next to the server.
  const isElsewhere = !hasToken && found.exitCode === exitCodes.unavailable.code;
  return {
    reachable,
    serverProblem: problem,
    ...(hasToken && {
      tokenSource: found.source,
      tokenPrefix: toTokenPrefix(found.token) || undefined,
    }),
    ...saved,
    works: reason === undefined,
    error: reason?.error,
    problem: isElsewhere ? describeNoToken(saved) : reason?.message,
    exitCode: reason?.exitCode ?? exitCodes.done.code,
  };
}

/** Returns why no plant store is at a URL. */
function findServerProblem(check: ServerInspection["check"]): string | undefined {
  if (!("isAccepted" in check)) return check.message;
  if (check.isAccepted || !isOfOtherUrl(check.error)) return undefined;
  return check.error.message;
}

function describeNoToken({ otherOrigins = [] }: Partial<ServerReport>): string {
  if (otherOrigins.length > 0) return "none is saved for this URL";
  return 'none is saved: the first "plantstore serve" of a new store saves one';
}

async function describeSaved(origin: string, io: Io): Promise<Partial<ServerReport>> {
  const { findConfigDirectoryIfAny } = await import("../config/directories.ts");
  const { findTokenFile, listSavedOrigins, readCredential } =
    await import("../config/saved-tokens.ts");
  const directory = findConfigDirectoryIfAny(io);
  if (directory === undefined) return {};
  const file = await findTokenFile(directory, origin, io);
  const origins = await listSavedOrigins(directory, io).catch(() => []);
  // An unreadable file is reported with the token.
  const { ca } = attempt(() => readCredential(directory, origin, io)) ?? {};
  return {
    savedIn: file?.path,
    readableBy: file?.readers,
    savedCertificates: ca === undefined ? undefined : await describeCertificates(ca),
    otherOrigins: origins.filter((other) => other !== origin),
  };
}

/** @returns undefined for certificates that were damaged after the login */
async function describeCertificates(ca: string): Promise<readonly SavedCertificate[] | undefined> {
  const { listCertificates } = await import("../../library/client-certificates.ts");
  return attempt(() => listCertificates(ca))?.map(({ fingerprint256, validTo }) => ({
    sha256: fingerprint256,
    expires: new Date(validTo).toISOString(),
  }));
}

function toMeaning(
  { value, source, problem }: Omit<SettingReport, "flag" | "variable">,
  exists = true,
): string {
  if (value === undefined) return `${source === undefined ? "invalid" : "none"}: ${problem}`;
  const origin = source === "the default" ? "default" : `from ${source}`;
  const state = exists ? problem : "does not exist yet";
  return `${value} (${[origin, ...(state === undefined ? [] : [state])].join(", ")})`;
}

/** Says that the server is on another machine than the default store. */
function toElsewhereItems(url: string | undefined, { source }: SettingReport): readonly Item[] {
  if (source !== "the default" || url === undefined || isLocalUrl(url)) return [];
  return [["Note", `it is on this machine; "create" sends to ${url}`]];
}

const describedReaders: Readonly<Record<FileReaders, string>> = {
  none: "only its owner",
  group: "others of its group",
  everyone: "everyone",
};

/** Maximum number of saved certificates in the report; a bundle has more than a hundred. */
const maxShownCertificates = 3;

function toServerItems(server: ServerReport, { path = "" }: DirectoryReport): readonly Item[] {
  const { reachable, serverProblem, tokenSource, tokenPrefix, savedIn, readableBy } = server;
  const { otherOrigins = [], savedCertificates = [], works, error, problem = "" } = server;
  if (reachable === undefined) return [["Reachable", "not checked, because a setting is invalid"]];
  const items: Item[] = [["Reachable", reachable ? "yes" : `no: ${serverProblem}`]];
  if (tokenSource === undefined) {
    items.push(["Token", problem]);
  } else {
    const prefix = tokenPrefix === undefined ? "" : `${tokenPrefix}… `;
    const reason = error === undefined ? problem : `error ${error}: ${problem}`;
    const failure = reachable
      ? `no: ${reason}`
      : "not checked, because the server is not reachable";
    items.push(
      ["Token", `${prefix}from ${tokenSource === savedIn ? "the saved file" : tokenSource}`],
      ["Accepted", works ? "yes" : failure],
    );
  }
  const readers = readableBy === undefined ? "" : ` (${describedReaders[readableBy]} can read it)`;
  // Relative, because the whole path is longer than a line of a usual terminal.
  if (savedIn !== undefined) {
    items.push(["Saved", `in Config: ${relative(path, savedIn)}${readers}`]);
  }
  for (const { sha256, expires } of savedCertificates.slice(0, maxShownCertificates)) {
    const text = `saved at login, until ${expires.slice(0, 10)}, with the SHA-256 ${sha256}`;
    items.push(["Authority", text]);
  }
  const hidden = savedCertificates.length - maxShownCertificates;
  if (hidden > 0) items.push(["Authority", `${hidden} more; --json lists all`]);
  if (otherOrigins.length > 0) items.push(["Others", `tokens for ${otherOrigins.join(", ")}`]);
  return items;
}
