/** The command `ping`. */
import { pause } from "../../client/create-plant.ts";
import { checkReadiness, checkToken, type CheckTokenOptions } from "../../client/probe.ts";
import { redactTokens } from "../../core/messages.ts";
import { CommandError, interruptible, serverExitCodes } from "../command-error.ts";
import { findServerProblem, toCheckError, explainFailure, toSentence } from "../command-failure.ts";
import { type CommandBody, describeVariables, type Run, serverFlagAdvice } from "../command.ts";
import { pingOptions } from "../options/remote.ts";
import { readOption, readOptions } from "../options/values.ts";
import { findAuthorities, selectPost } from "../server-access.ts";

export const pingCommand: CommandBody = {
  description: `Checks whether a plant store is ready to create plants: the server runs, is not
stopping, its storage is writable, and plants are created at exactly this URL.
Needs no token and creates nothing. With --wait, tries until the server is ready
or the time is over; another server, a wrong path or a failure of TLS ends it at
once.`,
  options: pingOptions,
  examples: [
    "plantstore ping",
    "plantstore ping --wait 30s && plantstore create plants.csv",
    "plantstore ping --url https://plants.example.org/v1 --timeout 2",
    "plantstore ping --json | jq .ready",
  ],
  environment: describeVariables("PLANTSTORE_CONFIG_DIR"),
  flagAdvice: serverFlagAdvice,
  exitCodes: serverExitCodes,
  run: runPing,
};

const retryMs = 200;
/** Minimum time of the last attempt, which may exceed that of --wait. */
const lastAttemptMs = 1000;

async function runPing(run: Run): Promise<void> {
  const { flags, io, terminal } = run;
  const options = readOptions(pingOptions, flags, io);
  const { json, timeoutMs } = options;
  let { url } = options;
  const problem = await interruptible(io, (signal) =>
    terminal.showWhile(
      () => `waiting for ${url}`,
      async () => {
        const post = await selectPost(options, terminal);
        let ca = await findAuthorities(options, io, signal);
        const prepareAttempt = async (): Promise<CheckTokenOptions> => {
          const { value = url } = readOption(pingOptions.url, flags["url"], io);
          if (value !== url) ca = await findAuthorities({ ...options, url: value }, io, signal);
          url = value;
          return { baseUrl: url, ca, timeoutMs, post, signal };
        };
        return waitUntilReady(prepareAttempt, options.waitMs, run);
      },
    ),
  );
  if (json) await terminal.printLines([redactTokens(toReport(url, problem))]);
  if (problem !== undefined) throw problem;
  await terminal.success(`${url} is ready`);
}

/**
 * @param prepareAttempt called for each attempt, because the first server on this machine saves its URL when it starts
 * @returns the problem of the last attempt; undefined once the plant store is ready
 */
async function waitUntilReady(
  prepareAttempt: () => Promise<CheckTokenOptions>,
  waitMs: number,
  run: Run,
): Promise<CommandError | undefined> {
  const { io, terminal } = run;
  const { nowMs } = io;
  const endMs = nowMs() + waitMs;
  let isAnnounced = terminal.showsProgress;
  for (;;) {
    const request = await prepareAttempt();
    const { baseUrl, timeoutMs, signal } = request;
    // The time of --wait also ends an attempt that gets no response.
    const limitMs = waitMs > 0 ? Math.max(lastAttemptMs, Math.ceil(endMs - nowMs())) : timeoutMs;
    const attempt = { ...request, timeoutMs: Math.min(timeoutMs, limitMs) };
    const problem = await findProblem(attempt, run);
    // Nothing else changes by waiting.
    if (problem?.exit !== "unavailable") return problem;
    const leftMs = endMs - nowMs();
    if (leftMs <= 0) {
      if (waitMs === 0) return problem;
      const { exit, message, number } = problem;
      const waited = `${message}; waited ${waitMs / 1000} s`;
      return new CommandError(exit, waited, { cause: problem, number });
    }
    if (!isAnnounced) await terminal.note(`waiting for ${baseUrl}`);
    isAnnounced = true;
    await pause(Math.min(retryMs, leftMs), [signal]);
    signal.throwIfAborted();
  }
}

/** Requests `/readyz`, which responds at once, and then creates at the URL itself, without a token. */
async function findProblem(
  attempt: CheckTokenOptions,
  run: Run,
): Promise<CommandError | undefined> {
  const context = { url: attempt.baseUrl, source: run };
  try {
    const readiness = await checkReadiness(attempt);
    if (readiness.state === "notReady") {
      return toCheckError({ ok: false, ...readiness }, context);
    }
    // A proxy may close the connection of a path that it hides.
    const cause = readiness.state === "unknown" ? readiness.cause : undefined;
    if (cause !== undefined && cause.reason !== "lost") throw cause;
    return findServerProblem(await checkToken(attempt), context);
  } catch (error) {
    return explainFailure(error, run);
  }
}

function toReport(url: string, problem: CommandError | undefined): string {
  return JSON.stringify({
    url,
    ready: problem === undefined,
    error: problem?.number,
    problem: problem && toSentence(problem),
  });
}
