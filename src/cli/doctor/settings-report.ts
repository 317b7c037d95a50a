/** Every setting, its value, and where that comes from. */
import { CommandError } from "../command-error.ts";
import type { Io } from "../io.ts";
import { serveSettings } from "../settings/serve-settings.ts";
import { clientSettings } from "../settings/client-settings.ts";
import { findText, parseValue, type Setting } from "../settings/setting.ts";
import { manySettings } from "../settings/create-settings.ts";

/** A setting as it stands. As JSON it is printed just so. */
export interface SettingReport {
  /** Its flag, such as `--port`. */
  readonly flag: string;
  /** Its environment variable. */
  readonly variable: string;
  /** Nothing secret; absent when it is wrong. */
  readonly value?: string;
  /** Its flag, its variable, the file of saved settings, or `the default`. */
  readonly source?: string;
  /** What is wrong with it, and what to do. */
  readonly problem?: string;
}

/** The flags of `doctor` that are settings, by the name of the flag. */
export type SettingFlags = Readonly<Record<string, string | undefined>>;

const settings: readonly Setting<unknown>[] = [
  ...Object.values(serveSettings),
  ...Object.values(clientSettings),
  ...Object.values(manySettings),
];

/** Variables that name no setting of the table. */
const otherVariables = [
  "PLANTSTORE_TOKEN",
  "PLANTSTORE_TOKEN_FILE",
  "PLANTSTORE_CONFIG_DIR",
  "PLANTSTORE_DATA_DIR",
];

/** The settings of all commands. */
export function listSettings(flags: SettingFlags, io: Io): readonly SettingReport[] {
  return settings.map((setting) => inspectSetting(setting, flags, io));
}

function inspectSetting(setting: Setting<unknown>, flags: SettingFlags, io: Io): SettingReport {
  const { variable, parse, show = String } = setting;
  const flag = setting.flags.replace(/ .*/, "");
  try {
    const { text, source } = findText(setting, flags[flag], io);
    parseValue(source, text, parse);
    const isDefault = source === "the default";
    return {
      flag,
      variable,
      value: (isDefault && describeDefault(setting)) || show(text),
      source,
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { flag, variable, problem: error.message };
  }
}

/** A default that no text says as it is. */
function describeDefault({ fallback, saved, shownFallback }: Setting<unknown>): string | undefined {
  return typeof fallback === "string" && saved === undefined ? shownFallback : undefined;
}

/** The variables that look like plantstore's and are none of its own: a typing error has no effect, and nobody says so. */
export function findUnknownVariables({ env }: Io): readonly string[] {
  const known = new Set([...otherVariables, ...settings.map(({ variable }) => variable)]);
  return Object.keys(env)
    .filter((name) => name.startsWith("PLANTSTORE_") && env[name] && !known.has(name))
    .toSorted();
}
