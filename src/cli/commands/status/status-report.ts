/** The report of `plantstore status`, as JSON and as text. */
import { relative } from "node:path";
import { commandGroups, type Item } from "../../command.ts";
import type { FileReaders } from "../../config/credentials.ts";
import { toItems } from "../../terminal/table.ts";
import type { SettingReport } from "./setting-report.ts";

/** The server and its token. */
export interface ServerReport {
  /** True if a plant store responds. Absent if a setting is invalid, so that it was not checked. */
  readonly reachable?: boolean;
  /** Why it is not reachable. */
  readonly serverProblem?: string | undefined;
  /** Absent without a token. */
  readonly tokenSource?: string | undefined;
  /** Absent for a token that plantstore did not issue. */
  readonly tokenPrefix?: string | undefined;
  /** The file of the token that is saved for this URL, used or not. */
  readonly savedIn?: string | undefined;
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

/** A directory, or why it is unknown. */
export interface Place {
  readonly path?: string;
  readonly source: string;
  readonly exists?: boolean;
  readonly problem?: string;
}

/** The whole report. */
export interface StatusReport {
  readonly url: SettingReport;
  readonly server: ServerReport;
  readonly store: SettingReport;
  /** Absent for a store that is not a file. */
  readonly storeExists: boolean | undefined;
  readonly directories: { readonly config: Place; readonly data: Place };
  /** Without `--all`, those that are not at their default. */
  readonly settings: readonly SettingReport[];
}

/** Formats the report as one JSON object. */
export function toJson({ url, server, store, storeExists, ...others }: StatusReport): string {
  return JSON.stringify({
    url: url.value,
    urlSource: url.source,
    ...server,
    store: store.value,
    storeSource: store.source,
    storeExists,
    ...others,
  });
}

/** Formats the report as groups of lines. @param width columns of the terminal; undefined for no limit */
export function toText(report: StatusReport, width: number | undefined): string {
  const { url, server, store, storeExists, settings } = report;
  const { config, data } = report.directories;
  const others = settings.filter(({ flag }) => flag !== url.flag && flag !== store.flag);
  const places = toItems(
    [
      [commandGroups.remote, [["Server", toMeaning(url)], ...toServerItems(server, config)]],
      [commandGroups.local, [["Store", toMeaning(store, storeExists)]]],
      [
        "Directories:",
        [
          ["Config", toPlaceMeaning(config)],
          ["Data", toPlaceMeaning(data)],
        ],
      ],
    ],
    width,
  );
  if (others.length === 0) {
    return `${places}\nOther settings: all at their defaults ("plantstore status --all" shows them)\n`;
  }
  const items = others.map((setting) => [setting.flag, toMeaning(setting)] as const);
  return `${places}\n${toItems([["Other settings:", items]], width)}`;
}

function toPlaceMeaning({ path, exists, ...place }: Place): string {
  return toMeaning({ ...place, value: path }, exists);
}

function toMeaning(
  { value, source, problem }: Omit<SettingReport, "flag" | "variable">,
  exists = true,
): string {
  if (value === undefined) return `${source === undefined ? "invalid" : "none"}: ${problem}`;
  const origin = source === "the default" ? "default" : `from ${source}`;
  return `${value} (${origin}${exists ? "" : ", does not exist yet"})`;
}

const describedReaders: Readonly<Record<FileReaders, string>> = {
  none: "only its owner",
  group: "others of its group",
  everyone: "everyone",
};

function toServerItems(server: ServerReport, { path = "" }: Place): readonly Item[] {
  const { reachable, serverProblem, tokenSource, tokenPrefix, savedIn, readableBy } = server;
  const { otherOrigins = [], works, error, problem = "" } = server;
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
  if (otherOrigins.length > 0) items.push(["Others", `tokens for ${otherOrigins.join(", ")}`]);
  return items;
}
