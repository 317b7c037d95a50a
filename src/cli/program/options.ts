/** Options as commander wants them. */
import { type Command, Option } from "commander";
import { CommandError } from "../command-error.ts";
import type { Setting } from "../settings/setting.ts";

/**
 * An option for a setting; its help names the default and the variable.
 *
 * @param noteWidth columns beside the options of its command; a longer note has a line for each of its halves
 */
export function toOption(setting: Setting<unknown>, noteWidth = 54): Option {
  const { flags, help, fallback, shownFallback, isRepeatable, variable } = setting;
  const origins = [`default: ${shownFallback ?? String(fallback)}`, `env: ${variable}`];
  const line = `(${origins.join(", ")})`;
  const note = line.length <= noteWidth ? line : `(${origins.join(",\n")})`;
  const option = createOption(flags, `${help}\n${note}`);
  if (!isRepeatable) return option;
  return option.argParser((value: string, previous: string | undefined) =>
    previous === undefined ? value : `${previous} ${value}`,
  );
}

/** An option. One with a value may be given once: of two plants' names, none is the right one. */
export function createOption(flags: string, help: string): Option {
  const option = new Option(flags, help);
  if (!option.required) return option;
  return option.argParser((value: string, previous: string | undefined) => {
    if (previous !== undefined) {
      throw new CommandError("usage", `${option.long} is given twice: leave one of them out`);
    }
    return value;
  });
}

/** Adds `--color` and `--no-color`; the last one counts. */
export function addColorOptions(command: Command, onChoice: (color: boolean) => void): void {
  command
    .optionsGroup("Options:")
    .option("--color", "colour, also where there is no terminal")
    .option("--no-color", "no colour, also on a terminal")
    .on("option:color", () => onChoice(true))
    .on("option:no-color", () => onChoice(false));
}

/**
 * Refuses `--token`.
 *
 * @param advice what to do instead
 */
export function refuseTokenOption(
  command: Command,
  advice = "set PLANTSTORE_TOKEN, or give --token-file FILE (- is standard input)",
): void {
  command.addOption(new Option("--token [token]").hideHelp()).on("option:token", () => {
    throw new CommandError(
      "usage",
      `there is no --token, because other users of this machine can read its command lines: ${advice}`,
    );
  });
}
