/** Checks the configured server: its response, its readiness, the token and its clock. */
import { toTokenPrefix } from "../../../auth/token-format.ts";
import { checkReadiness } from "../../../client/check-readiness.ts";
import type { TokenCheck } from "../../../client/check-token.ts";
import type { ErrorBody } from "../../../core/plant.ts";
import { exitCodes } from "../../exit-codes.ts";
import type { Run } from "../../command.ts";
import type { requestOptions } from "../../options.ts";
import { describePlaintext, readAuthorities } from "../../server-access.ts";
import type { Values } from "../../settings.ts";
import type { FoundToken } from "../../config/token-source.ts";
import { type CheckFailure, checkServer, toTokenExitCode } from "../../token-check.ts";
import type { Finding } from "./finding.ts";

/** With a larger difference, tokens that are issued here expire at the wrong time. */
const maxClockDifferenceMs = 60_000;

/**
 * Checks the server, the token and the clock, without creating a plant.
 *
 * @throws the signal's reason, once it is aborted
 */
export async function examineServer(
  target: Values<typeof requestOptions>,
  run: Pick<Run, "io" | "terminal">,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { url: baseUrl, cacert, timeoutMs } = target;
  const { found, check } = await checkServer(target, run, signal);
  const hasToken = "token" in found;
  const token: Finding = hasToken
    ? describeToken(found, check)
    : { subject: "token", state: "error", ...found };
  if (!("isAccepted" in check)) {
    const server: Finding = { subject: "server", state: "error", ...check };
    return [server, token, describeClock(Date.now(), undefined)];
  }
  const ca = await readAuthorities(cacert);
  const readiness = await checkReadiness({ baseUrl, ca, timeoutMs, signal });
  const failure =
    findFailure(check) ?? (readiness.state === "notReady" ? readiness.error : undefined);
  return [
    describeServer(baseUrl, check, failure, hasToken),
    token,
    describeClock(Date.now(), check.serverTimeMs),
  ];
}

function describeServer(
  baseUrl: string,
  check: TokenCheck,
  failure: ErrorBody | undefined,
  hasToken: boolean,
): Finding {
  const subject = "server";
  if (failure !== undefined) {
    const exitCode = toTokenExitCode(failure.error);
    const isUnavailable = exitCode === exitCodes.unavailable.code;
    const problem = isUnavailable ? "cannot accept plants now" : "is not the URL of a plant store";
    const message = `${baseUrl} ${problem}: error ${failure.error}: ${failure.message}`;
    return { subject, state: "error", message, exitCode };
  }
  if (check.isAccepted && !hasToken) {
    const message = `${baseUrl} accepts plants without a token: tell its owner`;
    return { subject, state: "warning", message };
  }
  const risk = hasToken ? describePlaintext(baseUrl) : undefined;
  if (risk !== undefined) return { subject, state: "warning", message: risk };
  return { subject, state: "ok", message: `${baseUrl} is a plant store` };
}

function describeToken({ token, source }: FoundToken, check: TokenCheck | CheckFailure): Finding {
  const subject = "token";
  if (!("isAccepted" in check) || findFailure(check) !== undefined) {
    const message = "not checked, because the server check failed";
    return { subject, state: "none", message };
  }
  if (check.isAccepted) return { subject, state: "ok", message: "accepted by the server" };
  const prefix = toTokenPrefix(token);
  const name = prefix === "" ? `from ${source}` : `${prefix}… from ${source}`;
  const { error, message } = check.error;
  return {
    subject,
    state: "error",
    message: `${name}: rejected, error ${error}: ${message}`,
    exitCode: exitCodes.tokenRejected.code,
  };
}

/** A failure of the server that is not about the token. */
function findFailure(check: TokenCheck): ErrorBody | undefined {
  if (check.isAccepted) return undefined;
  const isAboutToken = toTokenExitCode(check.error.error) === exitCodes.tokenRejected.code;
  return isAboutToken ? undefined : check.error;
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
