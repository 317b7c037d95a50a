/** The command `ping`. */
import { pause } from "../../client/create-plant.ts";
import { checkCreates, type Readiness } from "../../client/probe.ts";
import type { UnavailableError } from "../../client/results.ts";
import { redactTokens } from "../../core/messages.ts";
import { CommandError, interruptible, requestExitCodes } from "../command-error.ts";
import { toAdvice } from "../command-failure.ts";
import { type CommandBody, describeVariables, type Run, serverHints } from "../command.ts";
import type { Io } from "../io.ts";
import { pingOptions } from "../options/remote.ts";
import { readOptions, type Values } from "../options/values.ts";
import { findAuthorities } from "../server-access.ts";

/** `plantstore ping`. */
export const pingCommand: CommandBody = {
  description: `Checks whether a plant store is ready to create plants: the server runs, is not
stopping, its storage is writable, and plants are created at exactly this URL.
Needs no token and creates nothing. With --wait, tries until the server is ready
or the time is over; a wrong URL or an untrusted certificate ends it at once.`,
  options: pingOptions,
  examples: [
    "plantstore ping",
    "plantstore ping --wait 30s && plantstore create plants.csv",
    "plantstore ping --url https://plants.example.org/v1 --timeout 2",
    "plantstore ping --json | jq .ready",
  ],
  environment: describeVariables("PLANTSTORE_CONFIG_DIR"),
  hints: serverHints,
  exitCodes: [...requestExitCodes.filter((name) => name !== "tokenRejected"), "outputClosed"],
  run: runPing,
};

type Options = Values<typeof pingOptions>;

/** Time between two attempts. */
const retryMs = 200;
/** Minimum time of the last attempt, which may exceed that of --wait. */
const lastAttemptMs = 1000;

/**
 * Checks a plant store, and waits until it is ready or the time is over.
 *
 * @throws CommandError if the plant store is not ready
 */
export async function runPing({ flags, io, terminal }: Run): Promise<void> {
  const options = readOptions(pingOptions, flags, io);
  const { url, waitMs } = options;
  const ca = await findAuthorities(options, io);
  const readiness = await interruptible(io, (signal) =>
    terminal.showWhile(
      () => `waiting for ${url}`,
      () => waitUntilReady({ ...options, ca }, io, signal),
    ),
  );
  if (options.json) await terminal.printLines([redactTokens(toReport(url, readiness))]);
  if (readiness.state === "ready") return terminal.note(`${url} is ready`);
  const exit = readiness.state === "notReady" ? "unavailable" : readiness.state;
  const time = waitMs > 0 && !isFinal(readiness) ? ` after ${waitMs / 1000} s` : "";
  const canWait = waitMs === 0 && exit === "unavailable" && !isFinal(readiness);
  const advice = canWait ? "; --wait 30s waits until it is" : "";
  throw new CommandError(exit, `${url} is not ready${time}: ${toReason(readiness)}${advice}`, {
    cause: "cause" in readiness ? readiness.cause : undefined,
  });
}

/** @returns the result of the last attempt */
async function waitUntilReady(
  { url: baseUrl, ca, timeoutMs, waitMs }: Options & { readonly ca: string | undefined },
  { nowMs }: Io,
  signal: AbortSignal,
): Promise<Readiness> {
  const endMs = nowMs() + waitMs;
  for (;;) {
    // The time of --wait also ends an attempt that gets no response.
    const limitMs = waitMs > 0 ? Math.max(lastAttemptMs, Math.ceil(endMs - nowMs())) : timeoutMs;
    const attempt = { baseUrl, ca, timeoutMs: Math.min(timeoutMs, limitMs), signal };
    const readiness = await checkCreates(attempt);
    const leftMs = endMs - nowMs();
    if (readiness.state === "ready" || leftMs <= 0 || isFinal(readiness)) return readiness;
    await pause(Math.min(retryMs, leftMs), [signal]);
    signal.throwIfAborted();
  }
}

/** The result as a line of JSON. */
function toReport(url: string, readiness: Readiness): string {
  const ready = readiness.state === "ready";
  return JSON.stringify({
    url,
    ready,
    ...(readiness.state === "notReady" && { error: readiness.error.error }),
    ...(!ready && { problem: toReason(readiness) }),
  });
}

function toReason(readiness: Exclude<Readiness, { readonly state: "ready" }>): string {
  if (readiness.state === "unavailable" && readiness.cause !== undefined) {
    return toAdvice(readiness.cause, "try again");
  }
  if (readiness.state !== "notReady") return readiness.reason;
  const { error, message } = readiness.error;
  return `error ${error}: ${message}`;
}

/** Checks for a state that does not change by waiting. */
function isFinal(readiness: Readiness): boolean {
  return isInsecure(readiness) || (readiness.state === "noPlantStore" && !!readiness.isOtherUrl);
}

/** Checks for a failure of TLS. */
function isInsecure(
  readiness: Readiness,
): readiness is Readiness & { readonly cause: UnavailableError } {
  return readiness.state === "unavailable" && readiness.cause?.reason === "insecure";
}
