/** `plantstore config`: shows settings, and the files and directories of plantstore, with their sources. */
import { existsSync } from "node:fs";
import { toEndpoint } from "../../../core/base-url.ts";
import { redactTokens } from "../../../core/quote.ts";
import { describeStoreUrl } from "../../../store/store-url.ts";
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { readSavedToken, toCredentialFile, toCredentialFolder } from "../../config/credentials.ts";
import {
  findConfigDirectoryIfAny,
  locateConfigDirectory,
  locateDataDirectory,
} from "../../config/directories.ts";
import { toSettingsFile } from "../../config/saved-settings.ts";
import { exitCodes } from "../../exit-codes.ts";
import { type Io, writeText } from "../../io.ts";
import { createOptions, jsonOption, storeOption, toLongFlag, urlOption } from "../../options.ts";
import { type Flags, readOption, readOptions } from "../../settings.ts";
import { printRows, type RowType, selectStyle } from "../../terminal/rows.ts";
import { listSettings, type SettingReport, toSettingLines } from "./setting-report.ts";

/**
 * Prints every setting: in columns on a terminal, otherwise as one line of JSON per setting.
 *
 * @returns the exit code: 2 if a setting is invalid
 * @throws OutputError
 */
export async function listConfig({ flags, io, terminal }: Run): Promise<number> {
  const { json } = readOptions(jsonOption, flags, io);
  const { stdout } = io;
  const reports = [...listSettings(flags, io), describeTokenSetting(io, flags)];
  if (selectStyle({ json }, stdout) === "table") {
    await writeText(stdout, toSettingLines(reports, stdout.columns));
  } else {
    await terminal.printLines(reports.map(toJson));
  }
  const isValid = reports.every(({ problem }) => problem === undefined);
  return isValid ? exitCodes.done.code : exitCodes.usage.code;
}

function toJson(row: object): string {
  return redactTokens(JSON.stringify(row));
}

/** Describes where the token for the current URL comes from, without reading it. */
function describeTokenSetting(io: Io, flags: Flags): SettingReport {
  const row = {
    flag: toLongFlag(createOptions.tokenFile.flags),
    variable: "PLANTSTORE_TOKEN",
  };
  const { PLANTSTORE_TOKEN: token, PLANTSTORE_TOKEN_FILE: file } = io.env;
  if (token) return { ...row, value: "set", source: row.variable };
  if (file) return { ...row, value: file, source: "PLANTSTORE_TOKEN_FILE" };
  const none = { ...row, value: "none", source: "the default" };
  const directory = findConfigDirectoryIfAny(io);
  if (directory === undefined) return none;
  try {
    const { value: url = "" } = readOption(urlOption.url, flags["url"], io, flags);
    const { origin } = toEndpoint(url);
    if (readSavedToken(directory, origin) === undefined) return none;
    return { ...row, value: "saved", source: toCredentialFile(directory, origin) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { ...row, problem: error.message };
  }
}

/** A file or directory of plantstore. */
interface Place {
  readonly name: string;
  readonly path: string;
  readonly source: string;
  readonly exists?: boolean;
}

const placeRows: RowType<Place> = {
  columns: [
    { name: "name", read: ({ name }) => name },
    { name: "path", read: ({ path, exists }) => (exists === false ? `${path} (missing)` : path) },
    { name: "source", read: ({ source }) => source },
  ],
  toJson,
};

/**
 * Prints the directories and files that hold settings, tokens and plants.
 *
 * @throws CommandError without a home directory, or for an invalid store; OutputError
 */
export async function showPaths(run: Run): Promise<void> {
  const { flags, io } = run;
  const { json } = readOptions(jsonOption, flags, io);
  await printRows([listPlaces(io)], placeRows, selectStyle({ json }, io.stdout), run);
}

function listPlaces(io: Io): readonly Place[] {
  const config = locateConfigDirectory(io);
  const data = locateDataDirectory(io);
  const store = readOption(storeOption.store, undefined, io);
  const inConfig = (name: string, path: string): Place => ({ name, ...config, path });
  const files = [
    { name: "config", ...config },
    inConfig("settings", toSettingsFile(config.path)),
    inConfig("credentials", toCredentialFolder(config.path)),
    { name: "data", ...data },
  ].map((place) => ({ ...place, exists: existsSync(place.path) }));
  const storePlace = describeStoreUrl(store.value ?? "");
  return [...files, { name: "store", path: storePlace, source: store.source }];
}
