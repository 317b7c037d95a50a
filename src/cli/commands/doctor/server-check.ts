/** Checks the configured server: its response, its readiness, the token and its clock. */
import { toTokenPrefix } from "../../../auth/token.ts";
import { checkReadiness } from "../../../client/check-readiness.ts";
import type { TokenCheck } from "../../../client/check-token.ts";
import type { ErrorBody } from "../../../core/plant.ts";
import { exitCodes } from "../../exit-codes.ts";
import type { Run } from "../../command.ts";
import type { requestOptions } from "../../options.ts";
import { describePlaintext, readAuthorities } from "../../server-access.ts";
import type { Values } from "../../settings.ts";
import { findToken, type FoundToken } from "../../config/token-source.ts";
import { checkTokenWithProgress, toTokenExitCode } from "../../token-check.ts";
import { type Finding, toErrorFinding } from "./finding.ts";

/** With a larger difference, tokens that are issued here expire at the wrong time. */
const maxClockDifferenceMs = 60_000;

/**
 * Checks the server, the token and the clock, without creating a plant.
 *
 * @throws the signal's reason, once it is aborted
 */
export async function checkServer(
  { url: baseUrl, cacert, timeoutMs }: Values<typeof requestOptions>,
  { io, terminal }: Pick<Run, "io" | "terminal">,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const found = await findToken(undefined, baseUrl, io, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    return toErrorFinding("token", error);
  });
  const hasToken = "token" in found;
  try {
    const token = hasToken ? found.token : undefined;
    const ca = await readAuthorities(cacert);
    const check = await checkTokenWithProgress({ baseUrl, ca, token, timeoutMs, signal }, terminal);
    const readiness = await checkReadiness({ baseUrl, ca, timeoutMs, signal });
    const failure =
      findFailure(check) ?? (readiness.state === "notReady" ? readiness.error : undefined);
    return [
      describeServer(baseUrl, check, failure, hasToken),
      hasToken ? describeToken(found, check) : found,
      describeClock(Date.now(), check.serverTimeMs),
    ];
  } catch (error) {
    signal.throwIfAborted();
    return [
      toErrorFinding("server", error),
      hasToken ? toUntriedToken(found) : found,
      describeClock(Date.now(), undefined),
    ];
  }
}

function describeServer(
  baseUrl: string,
  check: TokenCheck,
  failure: ErrorBody | undefined,
  hasToken: boolean,
): Finding {
  const subject = "server";
  if (failure !== undefined) {
    const message = `${baseUrl} cannot accept plants now: error ${failure.error}: ${failure.message}`;
    return { subject, state: "error", message, exitCode: exitCodes.unavailable.code };
  }
  if (check.isAccepted && !hasToken) {
    const message = `${baseUrl} accepts plants without a token: tell its owner`;
    return { subject, state: "warning", message };
  }
  const risk = hasToken ? describePlaintext(baseUrl) : undefined;
  if (risk !== undefined) return { subject, state: "warning", message: risk };
  return { subject, state: "ok", message: `${baseUrl} is a plant store` };
}

function describeToken(found: FoundToken, check: TokenCheck): Finding {
  if (findFailure(check) !== undefined) return toUntriedToken(found);
  if (check.isAccepted) {
    return { subject: "token", state: "ok", message: `${describe(found)}: accepted` };
  }
  const { error, message } = check.error;
  return {
    subject: "token",
    state: "error",
    message: `${describe(found)}: rejected, error ${error}: ${message}`,
    exitCode: toTokenExitCode(error),
  };
}

/** A failure of the server that is not about the token. */
function findFailure(check: TokenCheck): ErrorBody | undefined {
  if (check.isAccepted) return undefined;
  const isUnavailable = toTokenExitCode(check.error.error) === exitCodes.unavailable.code;
  return isUnavailable ? check.error : undefined;
}

function toUntriedToken(found: FoundToken): Finding {
  const message = `${describe(found)}: not checked, because the server is unavailable`;
  return { subject: "token", state: "none", message };
}

function describe({ token, source }: FoundToken): string {
  const prefix = toTokenPrefix(token);
  return prefix === "" ? `from ${source}` : `${prefix}… from ${source}`;
}

function describeClock(nowMs: number, serverTimeMs: number | undefined): Finding {
  const subject = "clock";
  const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
  if (serverTimeMs === undefined) {
    return { subject, state: "none", message: `${now}; the server's time is unknown` };
  }
  const differenceMs = Math.abs(nowMs - serverTimeMs);
  if (differenceMs <= maxClockDifferenceMs) {
    return { subject, state: "ok", message: `${now}, the same as the server's` };
  }
  const minutes = Math.round(differenceMs / 60_000);
  return {
    subject,
    state: "warning",
    message: `${now}, ${minutes} min ${nowMs < serverTimeMs ? "behind" : "ahead of"} the server's: set it, or tokens that are issued here expire at the wrong time`,
  };
}
