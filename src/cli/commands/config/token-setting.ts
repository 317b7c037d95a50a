/** Describes where the token comes from, without reading it. */
import { toEndpoint } from "../../../core/base-url.ts";
import { CommandError } from "../../command-error.ts";
import { readSavedCommand, readSavedToken, toCredentialFile } from "../../config/credentials.ts";
import { findConfigDirectoryIfAny } from "../../config/directories.ts";
import { describeCommand } from "../../config/token-command.ts";
import type { Io } from "../../io.ts";
import { createOptions, toLongFlag, urlOption } from "../../options.ts";
import { type Flags, readOption } from "../../settings.ts";
import type { SettingReport } from "./setting-report.ts";

/** Describes the token for the current URL. */
export function describeTokenSetting(io: Io, flags: Flags): SettingReport {
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
    const source = toCredentialFile(directory, origin);
    const command = readSavedCommand(directory, origin);
    if (command !== undefined) return { ...row, value: describeCommand(command), source };
    const isSaved = readSavedToken(directory, origin) !== undefined;
    return isSaved ? { ...row, value: "saved", source } : none;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { ...row, problem: error.message };
  }
}
