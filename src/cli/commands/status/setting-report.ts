/** Settings of all commands, with their values and sources. */
import { CommandError } from "../../command-error.ts";
import type { Io } from "../../io.ts";
import { type Option, requestOptions, toLongFlag } from "../../options.ts";
import { settings } from "../../store-options.ts";
import { type Flags, readOption, readOptions, type Values } from "../../settings.ts";

/** A setting, which is printed as JSON. */
export interface SettingReport {
  /** Such as `--port`. */
  readonly flag: string;
  /** Its environment variable. */
  readonly variable: string;
  /** Without secrets; absent if it is invalid. */
  readonly value?: string | undefined;
  /** The flag, the variable, the file of saved settings, or `the default`. Absent if it is invalid. */
  readonly source?: string;
  /** Why it is invalid, or has no default; and how to fix it. */
  readonly problem?: string;
}

/** Lists the settings of all commands, from the table of options. */
export function listSettings(flags: Flags, io: Io): readonly SettingReport[] {
  return Object.entries(settings).map(([name, option]) => describeSetting(name, option, flags, io));
}

/** Describes one setting. @param name its name in the table */
export function describeSetting(
  name: string,
  option: Option<unknown>,
  given: Flags,
  io: Io,
): SettingReport {
  const { flags, env: variable = "", shownDefault, saved, type, default: fallback } = option;
  const flag = toLongFlag(flags);
  try {
    const { value, source } = readOption(option, given[name], io, given);
    // A computed default is more useful than its description.
    const isDescribed = source === "the default" && !saved && typeof fallback !== "function";
    const shown = (isDescribed && shownDefault) || type.format(value);
    return { flag, variable, value: shown, source };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const isDefault = !saved && given[name] === undefined && !io.env[variable];
    return { flag, variable, ...(isDefault && { source: "the default" }), problem: error.message };
  }
}

/**
 * Reads how to connect to the server.
 *
 * @param reports of the same flags
 * @returns undefined if one of the settings is invalid
 */
export function readTarget(
  reports: readonly SettingReport[],
  flags: Flags,
  io: Io,
): Values<typeof requestOptions> | undefined {
  const names = Object.values(requestOptions).map((option) => toLongFlag(option.flags));
  const isInvalid = reports.some(
    ({ flag, problem }) => problem !== undefined && names.includes(flag),
  );
  return isInvalid ? undefined : readOptions(requestOptions, flags, io);
}
