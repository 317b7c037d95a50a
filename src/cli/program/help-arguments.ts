/** What asks for help, in the one way that commander understands for every command. */
import type { Command } from "commander";

/**
 * The arguments to parse. `help token issue` becomes `token issue --help`; nothing at all becomes `--help`; and of a
 * command that does not exist there is no help, so that `creat --help` ends with it and is found wrong.
 */
export function toParsedArguments(argv: readonly string[], program: Command): readonly string[] {
  if (argv.length === 0) return ["--help"];
  const start = argv.findIndex((word) => !word.startsWith("-"));
  if (start < 0) return argv;
  const isHelp = argv[start] === "help";
  const flags = argv.slice(0, start);
  const words = isHelp ? argv.slice(start).filter((word) => word !== "help") : argv.slice(start);

  let command = program;
  for (const [index, word] of words.entries()) {
    const subcommand = command.commands.find((each) => each.name() === word);
    const isUnknown = subcommand === undefined && command.commands.length > 0;
    // As in `token help issue`, which commander knows.
    if (isUnknown && !word.startsWith("-") && word !== "help") {
      return [...flags, ...words.slice(0, index + 1)];
    }
    if (subcommand === undefined) break;
    command = subcommand;
  }
  return isHelp ? [...flags, ...words, "--help"] : argv;
}
