/** The command tree: what there is to type. Each action loads its command when it is called. */
import { Command } from "commander";
import { runCreate, runServe } from "../actions.ts";
import { addAboutCommands } from "./about-commands.ts";
import { program as programHelp } from "./help/about.ts";
import { setHelp } from "./help/command-help.ts";
import * as help from "./help/plants.ts";
import type { Invocation } from "../invocation.ts";
import type { Io, OutputStream } from "../io.ts";
import { addLoginCommands } from "./login-commands.ts";
import { addColorOptions, createOption, refuseTokenOption, toOption } from "./options.ts";
import { type ServeFlags, serveHeadings, serveSettings } from "../settings/serve-settings.ts";
import { clientSettings } from "../settings/client-settings.ts";
import { type CreateFlags, createOptions, manySettings } from "../settings/create-settings.ts";
import {
  defaultListLimit,
  type ListFlags,
  type ReaderFlags,
  readerSettings,
  resolveStoreUrl,
} from "../settings/reader-settings.ts";
import { addTokenCommands } from "./token-commands.ts";
import { toVersionLine } from "../version.ts";

/** The widest help: longer lines are hard to read. */
const maxColumns = 80;
/** What the longest option of serve leaves of them. */
const serveNoteWidth = 48;

/**
 * The tree. To parse a command line is to run its action; it throws a CommanderError for wrong usage, and also once
 * it has printed help or the version.
 */
export function createProgram(io: Io, invocation: Invocation): Command {
  const program = setHelp(new Command("plantstore"), programHelp)
    .version(toVersionLine(io), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .commandsGroup("Help:")
    .helpCommand("help [command]", "explain a command")
    // Options of a command are read by that command alone: `--name --version` is a name.
    .enablePositionalOptions()
    .exitOverride()
    // Nearly all of them have options.
    .configureHelp({ subcommandTerm: toTerm, minWidthToWrap: 20 })
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

  program.commandsGroup("Plants:");
  const serve = setHelp(program.command("serve"), help.serve).action((flags: ServeFlags) =>
    runServe(flags, io, invocation),
  );
  for (const [name, setting] of Object.entries(serveSettings)) {
    const heading = serveHeadings[name as keyof typeof serveSettings];
    if (heading !== undefined) serve.optionsGroup(heading);
    serve.addOption(toOption(setting, serveNoteWidth));
  }

  const create = setHelp(program.command("create"), help.create)
    .argument("[file...]", "files with plants; - is standard input")
    .action((files: string[], flags: CreateFlags) => runCreate(files, flags, io, invocation));
  for (const [heading, options] of createOptions) {
    create.optionsGroup(heading);
    for (const [flags, text] of options) create.addOption(createOption(flags, text));
  }
  for (const setting of Object.values({ ...clientSettings, ...manySettings })) {
    create.addOption(toOption(setting));
  }

  const list = setHelp(program.command("list"), help.list)
    .addOption(
      createOption(
        "--limit <n>",
        `the most plants to print, up to 10000\n(default: ${defaultListLimit})`,
      ),
    )
    .addOption(createOption("--after <id>", "only plants with a larger id"))
    .addOption(createOption("--tag <text>", "only plants with exactly this tag"))
    .action(async (flags: ListFlags) => {
      const module = await import("../commands/list.ts");
      invocation.exitCode = await module.list(module.toListOptions(flags, io), io);
    });

  const get = setHelp(program.command("get"), help.get)
    .argument("<id>", "identification number of the plant")
    .action(async (id: string, flags: ReaderFlags) => {
      const module = await import("../commands/get.ts");
      invocation.exitCode = await module.get(module.toGetOptions(flags, id, io), io);
    });

  const exportPlants = setHelp(program.command("export"), help.exportPlants).action(
    async (flags: ReaderFlags) => {
      const module = await import("../commands/export.ts");
      invocation.exitCode = await module.exportPlants(resolveStoreUrl(flags, io), io);
    },
  );
  for (const command of [list, get, exportPlants]) {
    for (const setting of Object.values(readerSettings)) command.addOption(toOption(setting));
  }

  program.commandsGroup("Tokens:");
  addTokenCommands(program, io, invocation);
  addLoginCommands(program, io, invocation);
  program.commandsGroup("Help:");
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

/** A command in the list of commands: its name and its arguments. */
function toTerm(command: Command): string {
  const words = command.registeredArguments.map((each) => {
    const name = `${each.name()}${each.variadic ? "..." : ""}`;
    return each.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(" ");
}

/** A terminal that does not tell its width says 0. */
function toHelpWidth({ columns }: OutputStream): number {
  return Math.min(columns || maxColumns, maxColumns);
}
