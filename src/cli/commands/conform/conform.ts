/** `plantstore conform`: tests a server against the rules of the contract. */
import { randomInt } from "node:crypto";
import { NotAPlantStoreError, UnavailableError } from "../../../client/client-error.ts";
import { toClientError } from "../../../client/http/failure.ts";
import { get } from "../../../client/http/post.ts";
import { converse, type Target } from "../../../conformance/conversation.ts";
import { rules } from "../../../conformance/rules.ts";
import { idsPerRule, type RunOptions, runRules, toPlaceholders } from "../../../conformance/run.ts";
import { toSafeLine } from "../../../conformance/transcript.ts";
import { joinPath, toEndpoint } from "../../../core/base-url.ts";
import type { StatusMode } from "../../../core/errors.ts";
import { int64Max, int64Min } from "../../../core/int64.ts";
import { parseErrorBody } from "../../../core/plant.ts";
import { create } from "../../../core/request-template.ts";
import type { Run } from "../../command.ts";
import { CommandError, interruptible, UsageError } from "../../command-error.ts";
import { findToken } from "../../config/token-source.ts";
import { exitCodes } from "../../exit-codes.ts";
import { toExitCode } from "../../failure.ts";
import { conformOptions } from "../../options.ts";
import { readAuthorities, warnAboutPlaintext } from "../../server-access.ts";
import { readOptions, type Values } from "../../settings.ts";
import { canAsk, confirm } from "../../terminal/prompts.ts";
import { printReport } from "./report.ts";

type Options = Values<typeof conformOptions>;

/**
 * Tests the server, and prints a report.
 *
 * @returns the exit code
 * @throws CommandError, UnavailableError; OutputError
 */
export async function conform(run: Run): Promise<number> {
  const { io } = run;
  const options = readOptions(conformOptions, run.flags, io);
  if (!options.isConfirmed && !(canAsk(io) && options.tokenFile !== "-")) {
    throw new UsageError(
      `conform writes plants to ${options.url} that the service cannot delete: pass --yes to agree`,
    );
  }
  return interruptible(
    io,
    (signal) => test(options, run, signal),
    "plants that were sent stay in the store",
  );
}

async function test(options: Options, { io, terminal }: Run, signal: AbortSignal): Promise<number> {
  const { url, tokenFile, timeoutMs, firstId = chooseFirstId(), isConfirmed } = options;
  const found = await findToken(tokenFile, url, io, signal);
  await warnAboutPlaintext(url, terminal);
  const ca = await readAuthorities(options.cacert);
  const target = { url, ca, token: found.token, timeoutMs, signal };
  const statusMode =
    options.statusMode ??
    (await terminal.showWhile(
      () => `waiting for ${url}`,
      () => findStatusMode(target),
    ));
  const runOptions: RunOptions = { ...target, statusMode, firstId };
  await assertAccepted(runOptions, found.source);

  const lastId = firstId + BigInt(rules.length * idsPerRule) - 1n;
  await terminal.note(
    `plantstore conform writes plants to ${url}, and the service cannot delete them:`,
  );
  await terminal.note(`  ids ${firstId} to ${lastId}, and 9000${firstId} to 9000${lastId}`);
  await terminal.note(`  ids 0, ${int64Min} and ${int64Max}`);
  if (!isConfirmed && !(await confirm("Continue? [y/N] ", io, signal))) {
    throw new CommandError("usage", "not confirmed: no plant was sent");
  }
  let done = 0;
  const results = await terminal.showWhile(
    () => `${done} of ${rules.length} rules`,
    () => runRules(rules, runOptions, () => void (done += 1)),
  );
  await printReport(results, { ...options, statusMode, token: found.token }, { io, terminal });
  const isKept = results.every(({ problem }) => problem === undefined);
  return (isKept ? exitCodes.done : exitCodes.someMissing).code;
}

/** A random id with 15 digits, so that runs do not meet each other's plants. */
function chooseFirstId(): bigint {
  return 10n ** 14n + BigInt(randomInt(2 ** 47)) * 6n;
}

/**
 * Finds out which status a server sends with a failure: reads `/openapi.json` at its root.
 *
 * @returns `http` if it documents status 422 for a create; `contract` otherwise, and without a readable description
 * @throws UnavailableError if no connection can be opened
 */
async function findStatusMode({
  url: baseUrl,
  ca,
  timeoutMs,
  signal,
}: Target): Promise<StatusMode> {
  const url = joinPath(toEndpoint(baseUrl).origin, "/openapi.json");
  try {
    const { body } = await get({ url, ca, timeoutMs, signal });
    const description = JSON.parse(new TextDecoder().decode(body)) as Description | null;
    const responses = description?.paths?.["/plants"]?.post?.responses;
    return responses?.["422"] === undefined ? "contract" : "http";
  } catch (error) {
    signal.throwIfAborted();
    const isUnreachable =
      error instanceof UnavailableError && /^(?:refused|unknownHost|insecure)$/.test(error.reason);
    const isDescribed = error instanceof UnavailableError || error instanceof NotAPlantStoreError;
    if (isUnreachable || !(isDescribed || error instanceof SyntaxError)) throw error;
    return "contract";
  }
}

/** The part of an OpenAPI document that is read. Any part of it may be missing. */
interface Description {
  readonly paths?: {
    readonly "/plants"?: { readonly post?: { readonly responses?: Record<string, unknown> } };
  };
}

/** Sends a create without a plant. @throws UnavailableError without a connection; CommandError without a response, or for a rejected token */
async function assertAccepted(options: RunOptions, tokenSource: string): Promise<void> {
  const { url, ca, signal } = options;
  const exchange = { send: create("{}"), receive: { status: "failure" } } as const;
  const { responses, failure, isUnreachable, hasTimedOut } = await converse(
    options satisfies Target,
    exchange,
    toPlaceholders(options, 0),
  );
  signal.throwIfAborted();
  const [response] = responses;
  if (response === undefined) {
    if (isUnreachable && failure !== undefined) throw toClientError(failure, { url, ca });
    const problem = hasTimedOut ? "; a higher --timeout waits longer" : "";
    throw new CommandError("unavailable", `no HTTP response from ${url}: try again${problem}`);
  }
  const error = parseErrorBody(response.body);
  const isRejected =
    response.status === 401 ||
    response.status === 403 ||
    (error !== undefined && toExitCode(error.error) === exitCodes.tokenRejected.code);
  if (!isRejected) return;
  const reason =
    error === undefined ? `status ${response.status}` : toSafeLine(error.message, options.token);
  throw new CommandError(
    "tokenRejected",
    `${url} rejected the token: ${reason} (the token came from ${tokenSource})`,
  );
}
