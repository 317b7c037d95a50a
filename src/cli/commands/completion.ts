/** `plantstore completion`: prints a shell's script; and the hidden command that the scripts ask. */
import type { Command } from "commander";
import { errorTable } from "../../core/errors.ts";
import { quoteInput } from "../../core/quote.ts";
import { conflictPolicies } from "../../core/store.ts";
import { logFormats, logLevels } from "../../server/ops/log.ts";
import { type Candidate, findCandidates, type ValueSources } from "../completion/candidates.ts";
import { completionScripts, isShell } from "../completion/scripts.ts";
import { CommandError } from "../command-error.ts";
import { listSavedOrigins } from "../tokens/credentials.ts";
import { findConfigDirectory } from "../settings/directories.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Io, writeText } from "../io.ts";

/**
 * Prints the script for a shell.
 *
 * @returns the exit code
 * @throws CommandError for a shell that there is no script for
 * @throws OutputError
 */
export async function completion(shell: string, io: Io): Promise<number> {
  if (!isShell(shell)) {
    const known = Object.keys(completionScripts).join(", ");
    throw new CommandError(
      "usage",
      `no completion for "${quoteInput(shell)}": choose one of ${known}`,
    );
  }
  await writeText(io.stdout, completionScripts[shell]);
  return exitCodes.done.code;
}

/**
 * Prints the candidates for the last of the words, each on a line of its own with a tab and its description.
 *
 * @returns the exit code
 * @throws OutputError
 */
export async function complete(
  program: Command,
  words: readonly string[],
  io: Io,
): Promise<number> {
  const candidates = await findCandidates(program, words, createValueSources(io));
  const lines = candidates.map(({ value, description }) => `${value}\t${description}\n`);
  await writeText(io.stdout, lines.join(""));
  return exitCodes.done.code;
}

/** The values that are known, by the option or the argument that takes them. */
export function createValueSources(io: Io): ValueSources {
  return {
    "--on-conflict": async () => toCandidates(conflictPolicies),
    "--log-format": async () => toCandidates(logFormats),
    "--log-level": async () => toCandidates(logLevels),
    "--metrics": async () => toCandidates(["main"]),
    "--url": async () => toCandidates(await listSavedOrigins(findConfigDirectory(io))),
    "completion shell": async () => toCandidates(Object.keys(completionScripts)),
    "explain error": async () =>
      Object.values(errorTable).map(({ error, when }) => ({
        value: String(error),
        description: when,
      })),
  };
}

function toCandidates(values: readonly string[]): readonly Candidate[] {
  return values.map((value) => ({ value, description: "" }));
}
