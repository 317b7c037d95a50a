/** The command tree: what there is to type. Each action loads its command when it is called. */
import { Command } from "commander";
import { addAboutCommands } from "./about-program.ts";
import * as help from "./help.ts";
import type { Invocation } from "./invocation.ts";
import type { Io, OutputStream } from "./io.ts";
import { addLoginCommands } from "./login-program.ts";
import { addColorOptions, createOption, refuseTokenOption, toOption } from "./options.ts";
import { type ServeFlags, serveHeadings, serveSettings } from "./settings/serve-settings.ts";
import { clientSettings } from "./settings/client-settings.ts";
import { type CreateFlags, manySettings } from "./settings/create-settings.ts";
import {
  defaultListLimit,
  type ListFlags,
  type ReaderFlags,
  readerSettings,
  resolveStoreUrl,
} from "./settings/reader-settings.ts";
import { addTokenCommands } from "./token-program.ts";
import { toVersionLine } from "./version.ts";

/** The widest help: longer lines are hard to read. */
const maxColumns = 80;

/**
 * The tree. To parse a command line is to run its action; it throws a CommanderError for wrong usage, and also once
 * it has printed help or the version.
 */
export function createProgram(io: Io, invocation: Invocation): Command {
  const program = new Command("plantstore")
    .description(help.program.description)
    .version(toVersionLine(io), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "explain a command")
    .addHelpText("after", help.program.after)
    // Options of a command are read by that command alone: `--name --version` is a name.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        invocation.help = (invocation.help ?? "") + text;
      },
      writeErr: (text) => void io.stderr.write(text),
      outputError() {}, // main says it.
      getOutHelpWidth: () => toHelpWidth(io.stdout),
      getErrHelpWidth: () => toHelpWidth(io.stderr),
    })
    .hook("preSubcommand", (_, command) => {
      invocation.command = command.name();
    });

  const serve = program
    .command("serve")
    .summary(help.serve.summary)
    .description(help.serve.description)
    .addHelpText("after", help.serve.after)
    .action(async (flags: ServeFlags) => {
      const module = await import("./commands/serve.ts");
      invocation.exitCode = await module.serve(module.toServeOptions(flags, io), io);
    });
  for (const [name, setting] of Object.entries(serveSettings)) {
    const heading = serveHeadings[name as keyof typeof serveSettings];
    if (heading !== undefined) serve.optionsGroup(heading);
    serve.addOption(toOption(setting));
  }

  const create = program
    .command("create")
    .summary(help.create.summary)
    .description(help.create.description)
    .addHelpText("after", help.create.after)
    .argument("[file...]", "files with plants; - is standard input")
    .optionsGroup("Plant:")
    .addOption(createOption("--id <integer>", "identification number, -2^63 to 2^63-1"))
    .addOption(createOption("--name <text>", "name"))
    .addOption(createOption("--tag <text>", "type of the plant"))
    .optionsGroup("Input:")
    .option("--csv", "the input is a table; its first row names the columns")
    .option("--tsv", "the same, with tabs between the cells")
    .addOption(createOption("--from-line <n>", "pass over what begins before line n"))
    .option("--fail-fast", "read no more once something was not created")
    .optionsGroup("Output:")
    .option("--many", "print a line for each plant, even if there is only one")
    .option("-q, --quiet", "print only what was not created")
    .addOption(createOption("--rejects <file>", "file for what was not created, as it stood"))
    .optionsGroup("Sending:")
    .addOption(createOption("--token-file <file>", "file with the token; - is standard input"))
    .action(async (files: string[], flags: CreateFlags) => {
      const module = await import("./commands/create.ts");
      const options = module.toCreateOptions(flags, files, io);
      invocation.exitCode = await module.create(options, io, invocation.color);
    });
  for (const setting of Object.values({ ...clientSettings, ...manySettings })) {
    create.addOption(toOption(setting));
  }

  const list = program
    .command("list")
    .summary(help.list.summary)
    .description(help.list.description)
    .addHelpText("after", help.list.after)
    .addOption(
      createOption("--limit <n>", `the most plants to print\n(default: ${defaultListLimit})`),
    )
    .addOption(createOption("--after <id>", "only plants with a larger id"))
    .addOption(createOption("--tag <text>", "only plants with exactly this tag"))
    .action(async (flags: ListFlags) => {
      const module = await import("./commands/list.ts");
      invocation.exitCode = await module.list(module.toListOptions(flags, io), io);
    });

  const get = program
    .command("get")
    .summary(help.get.summary)
    .description(help.get.description)
    .addHelpText("after", help.get.after)
    .argument("<id>", "identification number of the plant")
    .action(async (id: string, flags: ReaderFlags) => {
      const module = await import("./commands/get.ts");
      invocation.exitCode = await module.get(module.toGetOptions(flags, id, io), io);
    });

  const exportPlants = program
    .command("export")
    .summary(help.exportPlants.summary)
    .description(help.exportPlants.description)
    .addHelpText("after", help.exportPlants.after)
    .action(async (flags: ReaderFlags) => {
      const module = await import("./commands/export.ts");
      invocation.exitCode = await module.exportPlants(resolveStoreUrl(flags, io), io);
    });
  for (const command of [list, get, exportPlants]) {
    for (const setting of Object.values(readerSettings)) command.addOption(toOption(setting));
  }

  addLoginCommands(program, io, invocation);
  addTokenCommands(program, io, invocation);
  addAboutCommands(program, io, invocation);

  for (const command of [program, serve, create]) refuseTokenOption(command);
  for (const command of withSubcommands(program)) {
    addColorOptions(command, (color) => {
      invocation.color = color;
    });
  }
  return program;
}

function withSubcommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** A terminal that does not tell its width says 0. */
function toHelpWidth({ columns }: OutputStream): number {
  return Math.min(columns || maxColumns, maxColumns);
}
