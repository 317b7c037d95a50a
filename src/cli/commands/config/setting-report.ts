/** Settings of all commands with their values and sources, as JSON and as lines of text. */
import { escapeUnprintable, redactTokens } from "../../../core/quote.ts";
import { CommandError } from "../../command-error.ts";
import type { Io } from "../../io.ts";
import { type Option, settings, toLongFlag } from "../../options.ts";
import { type Flags, readOption } from "../../settings.ts";
import { padText, toTextWidth, wrapText } from "../../terminal/text-width.ts";

/** A setting, which is printed as JSON. */
export interface SettingReport {
  /** Such as `--port`. */
  readonly flag: string;
  /** Its environment variable. */
  readonly variable: string;
  /** Without secrets; absent if it is invalid. */
  readonly value?: string;
  /** The flag, the variable, the file of saved settings, or `the default`. */
  readonly source?: string;
  /** Why it is invalid, and how to fix it. */
  readonly problem?: string;
}

const gap = "  ";
/** Indent of further lines of a setting that is wider than the terminal. */
const narrowIndent = 4;

/** Lists the settings of all commands, from the table of options. */
export function listSettings(flags: Flags, io: Io): readonly SettingReport[] {
  return Object.entries(settings).map(([name, option]) => describeSetting(option, name, flags, io));
}

function describeSetting(
  option: Option<unknown>,
  name: string,
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
    return { flag, variable, problem: error.message };
  }
}

/**
 * Formats the settings, one per line: flag, value and source, in columns if they fit.
 *
 * @param columns columns of the terminal; undefined or 0 for no limit
 */
export function toSettingLines(
  reports: readonly SettingReport[],
  columns: number | undefined,
): string {
  const rows = reports.map(({ flag, value, source = "", problem }) => ({
    flag,
    value: escapeUnprintable(redactTokens(value ?? `invalid: ${problem}`)),
    source: escapeUnprintable(source),
  }));
  const flagWidth = Math.max(...rows.map(({ flag }) => flag.length));
  const valueWidth = Math.max(...rows.map(({ value }) => toTextWidth(value)));
  const sourceColumn = flagWidth + valueWidth + 2 * gap.length;
  const width = Math.max(...rows.map(({ source }) => sourceColumn + toTextWidth(source)));
  const lines = rows.map(({ flag, value, source }) => {
    const beginning = `${flag.padEnd(flagWidth)}${gap}`;
    if (columns && width > columns) {
      const text = source === "" ? value : `${value} (${source})`;
      return beginning + wrapText(text, columns, beginning.length, narrowIndent);
    }
    return `${beginning}${padText(value, valueWidth)}${gap}${source}`;
  });
  return lines.map((line) => `${line.replaceAll(/ +$/gm, "")}\n`).join("");
}
