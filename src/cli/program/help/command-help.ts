/** What the help of a command says beside its options: examples before them, the environment and the exit codes after. */
import type { Command } from "commander";
import { type ExitCodeName, exitCodes } from "../../exit-codes.ts";

/** The help of one command. */
export interface CommandHelp {
  /** In the list of commands. */
  readonly summary: string;
  /** What the command does; a line break means no more than a space. */
  readonly text: string;
  /** Command lines, as they stand. */
  readonly examples: readonly string[];
  /** Variables that none of its options name. */
  readonly environment?: readonly Item[];
  /** What follows the variables. */
  readonly environmentNote?: string;
  readonly exitCodes: readonly ExitCodeName[];
  /** What follows the exit codes. */
  readonly exitCodesNote?: string;
}

/** A word, and what it means. */
export type Item = readonly [term: string, meaning: string];

/** Gives a command its help. */
export function setHelp(command: Command, help: CommandHelp): Command {
  const { summary, text, examples, environment = [], environmentNote, exitCodesNote } = help;
  const codes = help.exitCodes.map((name): Item => [
    `${exitCodes[name].code}`,
    exitCodes[name].meaning,
  ]);
  const after = [
    ...(environment.length > 0
      ? [toList("Environment (empty means unset):", environment, environmentNote)]
      : []),
    toList("Exit codes:", codes, exitCodesNote),
  ];
  return command
    .summary(summary)
    .description(`${text.replaceAll("\n", " ")}\n\n${toExamples(examples)}`)
    .addHelpText("after", `\n${after.join("\n\n")}`);
}

function toExamples(examples: readonly string[]): string {
  return ["Examples:", ...examples].join("\n  ");
}

function toList(heading: string, items: readonly Item[], note?: string): string {
  const width = Math.max(...items.map(([term]) => term.length));
  const lines = items.map(([term, meaning]) => `${term.padEnd(width)}  ${meaning}`);
  return [heading, ...lines, ...(note === undefined ? [] : [note])].join("\n  ");
}
