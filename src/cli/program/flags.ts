/** The flags of a command: declares them to commander, and reads their values. */
import { type Command as Commander, Option as Flag } from "commander";
import { type Command, listValueSources } from "../command.ts";
import { valueSeparator } from "../../library/option-types.ts";
import type { Option } from "../options.ts";
import type { Flags } from "../settings.ts";
import { furtherFlags, hasShortHelp, maxColumns, wrongUsage } from "./help.ts";

/** The names of options, each with commander's name for its flag. */
type FlagNames = readonly (readonly [name: string, attribute: string])[];

/** Declares the flags of a command. */
export function declareFlags(
  commander: Commander,
  command: Command,
  argv: readonly string[],
): FlagNames {
  const { options = {}, isGrouped, firstOptions = [] } = command;
  const isShort = hasShortHelp(command, argv);
  const longest = Math.max(...Object.values(options).map(({ flags }) => flags.length));
  // Help has two spaces before the flags and two after them.
  const noteColumns = maxColumns - longest - 4;
  return Object.entries(options).map(([name, option]) => {
    const flag = createFlag(option, noteColumns, commander, argv);
    if (isGrouped && !isShort && option.group !== undefined) flag.helpGroup(option.group);
    commander.addOption(flag);
    if (isShort && !firstOptions.includes(name)) furtherFlags.add(flag);
    return [name, flag.attributeName()] as const;
  });
}

/** A flag of an option; its help names the default and the environment variable. */
function createFlag(
  option: Option<unknown>,
  noteColumns: number,
  commander: Commander,
  argv: readonly string[],
): Flag {
  const { flags, help: description, isRepeatable } = option;
  const sources = listValueSources(option);
  const line = `(${sources.join(", ")})`;
  const note = line.length <= noteColumns ? line : `(${sources.join(",\n")})`;
  const flag = new Flag(flags, sources.length === 0 ? description : `${description}\n${note}`);
  if (!flag.required) return flag;
  return flag.argParser((value: string, previous: string | undefined) => {
    const joined = `${flag.long}=${value}`;
    if (
      commander.options.some(({ short, long }) => value === short || value === long) &&
      !argv.includes(joined)
    ) {
      const message = `${flag.long} has no value: add one before ${value}, or write ${joined}`;
      throw wrongUsage(message, commander);
    }
    if (previous === undefined) return value;
    if (isRepeatable) return previous + valueSeparator + value;
    throw wrongUsage(`${flag.long} is given twice: remove one of them`, commander);
  });
}

/** The flags of a command line. */
export function readFlags(commander: Commander, names: FlagNames): Flags {
  const given = names.filter(
    ([, attribute]) => commander.getOptionValueSource(attribute) === "cli",
  );
  return Object.fromEntries(
    given.map(([name, attribute]) => {
      const value: unknown = commander.getOptionValue(attribute);
      return [name, typeof value === "string" ? value : "1"];
    }),
  );
}

/** Rejects `--token`, because other users of the machine can read command lines. */
export function rejectTokenFlag(commander: Commander, advice: string): void {
  commander.addOption(new Flag("--token [token]").hideHelp()).on("option:token", () => {
    throw wrongUsage(
      `there is no --token, because other users of this machine can read its command lines: ${advice}`,
      commander,
    );
  });
}
