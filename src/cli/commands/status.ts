/** `plantstore status`: which plant store and which token are used, where that comes from, and whether they work. */
import { toTokenPrefix } from "../../auth/token-format.ts";
import { redactTokens } from "../../core/quote.ts";
import { findCredentialFile, listSavedOrigins } from "../tokens/credentials.ts";
import { findConfigDirectoryIfAny } from "../settings/directories.ts";
import { exitCodes } from "../exit-codes.ts";
import { warnOfEavesdroppers } from "../tokens/eavesdroppers.ts";
import { toFailure } from "../failure.ts";
import { interruptible } from "../interruption.ts";
import { type Io, writeText } from "../io.ts";
import { printJson } from "../output/json-output.ts";
import { createReporter } from "../output/reporter.ts";
import { resolveLoginOptions, type StatusFlags } from "../settings/client-settings.ts";
import { type StatusReport, toStatusLines } from "../output/status-report.ts";
import { findToken, type FoundToken } from "../tokens/token-source.ts";
import { toTrialExitCode, tryToken, type Trial } from "../tokens/token-trial.ts";

type Outcome = Pick<StatusReport, "works" | "error" | "problem"> & { readonly exitCode: number };

/**
 * Prints what is used, and tries it.
 *
 * @param colorChoice `--color` or `--no-color`, when one was given
 * @returns the exit code: 0 when the token works, else that of a create with it
 * @throws CommandError when the URL can't be told
 * @throws OutputError
 */
export async function status(
  flags: StatusFlags,
  io: Io,
  colorChoice: boolean | undefined,
): Promise<number> {
  return interruptible(io, async (signal) => {
    const { baseUrl, urlSource, timeoutMs } = resolveLoginOptions(flags, io);
    const found = await findToken(undefined, baseUrl, io, signal).catch(toOutcome);
    const isFound = "token" in found;
    if (isFound) await warnOfEavesdroppers(baseUrl, createReporter(io, colorChoice));
    const outcome = isFound
      ? await attempt({ baseUrl, token: found.token, timeoutMs, signal }, io, colorChoice)
      : found;
    signal.throwIfAborted();
    const { exitCode, ...result } = outcome;
    await print(
      {
        url: baseUrl,
        urlSource,
        ...(isFound && describeToken(found)),
        ...(await describeSaved(new URL(baseUrl).origin, io)),
        ...result,
      },
      flags,
      io,
    );
    return exitCode;
  });
}

async function attempt(trial: Trial, io: Io, colorChoice: boolean | undefined): Promise<Outcome> {
  try {
    const check = await tryToken(trial, io, colorChoice);
    if (check.isAccepted) return { works: true, exitCode: exitCodes.done.code };
    const { error, message } = check.error;
    return { works: false, error, problem: message, exitCode: toTrialExitCode(error) };
  } catch (error) {
    return toOutcome(error);
  }
}

/** @throws what is a bug */
function toOutcome(error: unknown): Outcome {
  const { exitCode, message, stack } = toFailure(error);
  if (stack !== undefined) throw error;
  return { works: false, problem: message, exitCode };
}

function describeToken({ token, source }: FoundToken): Partial<StatusReport> {
  return { tokenSource: source, tokenPrefix: toTokenPrefix(token) || undefined };
}

async function describeSaved(origin: string, io: Io): Promise<Partial<StatusReport>> {
  const directory = findConfigDirectoryIfAny(io);
  if (directory === undefined) return {};
  const file = await findCredentialFile(directory, origin);
  const origins = await listSavedOrigins(directory).catch(() => []);
  return {
    savedIn: file?.path,
    readableBy: file?.readers,
    otherOrigins: origins.filter((other) => other !== origin),
  };
}

async function print(report: StatusReport, { json }: StatusFlags, io: Io): Promise<void> {
  if (json) await printJson(io.stdout, [redactTokens(JSON.stringify(report))]);
  else await writeText(io.stdout, toStatusLines(report));
}
