/** How help looks, and the error for wrong usage, which names the help. */
import {
  type Command as Commander,
  CommanderError,
  Help,
  type HelpConfiguration,
  type Option as Flag,
} from "commander";
import { quoteInput } from "../core/messages.ts";
import { CommandError, exitCodes } from "./command-error.ts";
import { type Command, type Item, toExitCodeItems } from "./command.ts";
import { listTopics } from "./commands/help/topics.ts";
import type { OutputStream } from "./io.ts";
import { commonFlags, versionFlag } from "./options/remote.ts";

/** Longer lines of help are hard to read. */
export const maxColumns = 80;

/** Lets commander print help. @returns the error to throw, which ends the command line with 0 */
export function showHelp(commander: Commander): CommanderError {
  commander.outputHelp();
  return new CommanderError(exitCodes.done.code, "commander.helpDisplayed", "");
}

/** A command in a list of commands: its name and its arguments. */
function toTerm(commander: Commander): string {
  const words = commander.registeredArguments.map((each) => {
    const name = `${each.name()}${each.variadic ? "..." : ""}`;
    return each.required ? `<${name}>` : `[${name}]`;
  });
  return [commander.name(), ...words].join(" ");
}

/** A terminal that does not report its width has 0 columns. */
export function toHelpWidth({ columns }: OutputStream): number {
  return Math.min(columns || maxColumns, maxColumns);
}

/** With `--help`, shows every option, variable and exit code. */
export const allFlag = "--all";

/** Checks whether help shows only the options that people use first. */
export function hasShortHelp({ isGrouped }: Command, argv: readonly string[]): boolean {
  return isGrouped === true && !argv.includes(allFlag);
}

/** Flags that help shows only with `--all`. */
export const furtherFlags = new WeakSet<Flag>();

/** Below this width, the meaning of a term is under it. */
const minMeaningWidth = 20;

/** How help looks, where it differs from commander. */
export const helpFormat: HelpConfiguration = {
  subcommandTerm: toTerm,
  minWidthToWrap: minMeaningWidth,
  styleUsage(this: Help, usage) {
    const label = "Usage: ";
    return this.boxWrap(label + usage, this.helpWidth ?? maxColumns).slice(label.length);
  },
  /** Help omits some; suggestions, which have no width, do not. The options of `plantstore` itself are at its end. */
  visibleOptions(this: Help, commander) {
    const flags = Help.prototype.visibleOptions.call(this, commander);
    if (this.helpWidth === undefined) return flags;
    return flags.filter((flag) => commander.parent !== null && !furtherFlags.has(flag));
  },
  formatItem(term, termWidth, meaning, helper) {
    const { helpWidth = maxColumns } = helper;
    if (meaning === "" || helpWidth - termWidth - 4 >= minMeaningWidth) {
      return Help.prototype.formatItem.call(helper, term, termWidth, meaning, helper);
    }
    const lines = helper.boxWrap(meaning.replaceAll("\n", " "), helpWidth - 6).split("\n");
    return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join("\n");
  },
};

/** The lists after the options, wrapped as commander wraps its own. */
export function toHelpEnd(
  command: Command,
  commander: Commander,
  argv: readonly string[],
  helpWidth: number,
): string {
  const { environment = [], environmentNote = "", exitCodesNote = "" } = command;
  const helper = commander.createHelp();
  helper.prepareContext({ helpWidth });
  const isRoot = commander.parent === null;
  const isAll = argv.includes(allFlag);
  const isShort = hasShortHelp(command, argv);
  const lists: string[] = [];
  if (isShort) {
    const note = `${toPath(commander)} --help ${allFlag}`;
    lists.push(toList("More options, and environment variables:", [], note, helper));
  }
  if (isRoot) {
    const note = `${listTopics().join(", ")}\nSee "plantstore help TOPIC"; "plantstore help topics" lists their sections.`;
    lists.push(
      toList("Topics:", [], note, helper),
      toList("Options:", rootItems(isAll), "", helper),
    );
  }
  if (environment.length > 0 && (isAll || !(isRoot || isShort))) {
    const heading = "Environment (empty means unset):";
    lists.push(toList(heading, environment, environmentNote, helper));
  }
  if (isAll || !isRoot) {
    lists.push(toList("Exit codes:", toExitCodeItems(command), exitCodesNote, helper));
  }
  return lists.join("\n\n");
}

function rootItems(isAll: boolean): readonly Item[] {
  const [color, noColor, [helpFlags]] = commonFlags;
  return [
    [`${helpFlags} [${allFlag}]`, "Print this help; with --all, all of it"],
    versionFlag,
    ...(isAll ? [color, noColor] : []),
  ];
}

function toList(heading: string, items: readonly Item[], note: string, helper: Help): string {
  const { helpWidth = maxColumns } = helper;
  const width = Math.max(0, ...items.map(([term]) => term.length));
  const lines = items.map(([term, meaning]) => helper.formatItem(term, width, meaning, helper));
  const notes = note === "" ? [] : helper.boxWrap(note, helpWidth - 2).split("\n");
  return [heading, ...lines, ...notes.map((line) => `  ${line}`)].join("\n");
}

/** The one format of wrong usage: what is wrong, how the command is called, and where to read more. */
export function wrongUsage(message: string, commander: Commander): CommandError {
  const usage = commander.createHelp().commandUsage(commander);
  const hints = [`Usage: ${usage}`, `See "${toPath(commander)} --help"`];
  return new CommandError("usage", quoteInput(message, maxMessage), { hints });
}

/** UTF-16 code units of a message that quotes the command line. */
export const maxMessage = 1000;

function toPath(commander: Commander): string {
  const { parent } = commander;
  return parent === null ? commander.name() : `${toPath(parent)} ${commander.name()}`;
}

/** Checks whether `--help` was passed to a command or before it. */
export function isHelpAsked(commander: Commander): boolean {
  return commander.optsWithGlobals()["help"] === true;
}
