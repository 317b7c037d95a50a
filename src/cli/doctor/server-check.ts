/** Asks the plant store that clients here would ask: whether it answers, can take plants, takes the token, and has the same time. */
import { toTokenPrefix } from "../../auth/token-format.ts";
import { findHindrance } from "../../client/check-readiness.ts";
import type { TokenCheck } from "../../client/check-token.ts";
import type { ErrorBody } from "../../core/plant.ts";
import { describeEavesdropping } from "../tokens/eavesdroppers.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import type { LoginOptions } from "../settings/client-settings.ts";
import { findToken, type FoundToken } from "../tokens/token-source.ts";
import { toTrialExitCode, tryToken } from "../tokens/token-trial.ts";
import { type Finding, toErrorFinding } from "./finding.ts";

/** Farther apart, tokens that are issued here expire at another time than was meant. */
const maxClockDifferenceMs = 60_000;

/**
 * The findings about the server, the token and the clock. No plant is created.
 *
 * @param colorChoice `--color` or `--no-color`, when one was given
 * @throws the signal's reason, once it is aborted
 */
export async function checkServer(
  { baseUrl, timeoutMs }: LoginOptions,
  io: Io,
  colorChoice: boolean | undefined,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const found = await findToken(undefined, baseUrl, io, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    return toErrorFinding("token", error);
  });
  const hasToken = "token" in found;
  try {
    const token = hasToken ? found.token : undefined;
    const check = await tryToken({ baseUrl, token, timeoutMs, signal }, io, colorChoice);
    const trouble = findTrouble(check) ?? (await findHindrance({ baseUrl, timeoutMs, signal }));
    return [
      judgeServer(baseUrl, check, trouble, hasToken),
      hasToken ? judgeToken(found, check) : found,
      judgeClock(Date.now(), check.serverTimeMs),
    ];
  } catch (error) {
    signal.throwIfAborted();
    return [
      toErrorFinding("server", error),
      hasToken ? toUntriedToken(found) : found,
      judgeClock(Date.now(), undefined),
    ];
  }
}

function judgeServer(
  baseUrl: string,
  check: TokenCheck,
  trouble: ErrorBody | undefined,
  hasToken: boolean,
): Finding {
  const subject = "server";
  if (trouble !== undefined) {
    const message = `${baseUrl} can't take plants now: error ${trouble.error}: ${trouble.message}`;
    return { subject, state: "error", message, exitCode: exitCodes.unavailable.code };
  }
  if (check.isAccepted && !hasToken) {
    const message = `${baseUrl} takes plants from everybody, without a token: ask its owner`;
    return { subject, state: "warning", message };
  }
  const risk = hasToken ? describeEavesdropping(baseUrl) : undefined;
  if (risk !== undefined) return { subject, state: "warning", message: risk };
  return { subject, state: "ok", message: `${baseUrl} is a plant store` };
}

function judgeToken(found: FoundToken, check: TokenCheck): Finding {
  if (findTrouble(check) !== undefined) return toUntriedToken(found);
  if (check.isAccepted) {
    return { subject: "token", state: "ok", message: `${describe(found)}: accepted` };
  }
  const { error, message } = check.error;
  return {
    subject: "token",
    state: "error",
    message: `${describe(found)}: refused, error ${error}: ${message}`,
    exitCode: toTrialExitCode(error),
  };
}

/** What is wrong with the server for the time being; it says nothing about the token. */
function findTrouble(check: TokenCheck): ErrorBody | undefined {
  if (check.isAccepted) return undefined;
  const isUnavailable = toTrialExitCode(check.error.error) === exitCodes.unavailable.code;
  return isUnavailable ? check.error : undefined;
}

function toUntriedToken(found: FoundToken): Finding {
  const message = `${describe(found)}: not tried, because the server did not answer`;
  return { subject: "token", state: "none", message };
}

function describe({ token, source }: FoundToken): string {
  const prefix = toTokenPrefix(token);
  return prefix === "" ? `from ${source}` : `${prefix}… from ${source}`;
}

function judgeClock(nowMs: number, serverTimeMs: number | undefined): Finding {
  const subject = "clock";
  const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
  if (serverTimeMs === undefined) {
    return { subject, state: "none", message: `${now}, with no server's to compare it with` };
  }
  const differenceMs = Math.abs(nowMs - serverTimeMs);
  if (differenceMs <= maxClockDifferenceMs) {
    return { subject, state: "ok", message: `${now}, the same as the server's` };
  }
  const minutes = Math.round(differenceMs / 60_000);
  return {
    subject,
    state: "warning",
    message: `${now}, ${minutes} min ${nowMs < serverTimeMs ? "behind" : "ahead of"} the server's: set it, or tokens that are issued here expire at another time than is meant`,
  };
}
