/** `npm run conform`: tests a server against the rules of the contract. */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { CommandError, exitCodes, interruptible } from "../../src/cli/command-error.ts";
import { findToken } from "../../src/cli/config/token-source.ts";
import { toCommandError, toExitCode } from "../../src/cli/command-failure.ts";
import { type Io, writeText } from "../../src/cli/io.ts";
import { printFailure } from "../../src/cli/main.ts";
import { readAuthorities, warnAboutPlaintext } from "../../src/cli/server-access.ts";
import { parseText } from "../../src/cli/options/values.ts";
import { canAsk, confirm } from "../../src/cli/terminal/prompts.ts";
import { Terminal } from "../../src/cli/terminal/terminal.ts";
import { NotAPlantStoreError, UnavailableError } from "../../src/client/results.ts";
import { post, classifyError } from "../../src/client/http-request.ts";
import { operationSets, type OperationSet } from "../../src/core/contract.ts";
import { joinPath, toEndpoint } from "../../src/core/base-url.ts";
import { type StatusMode, statusModes } from "../../src/core/errors.ts";
import { int64Max, int64Min } from "../../src/core/plant.ts";
import { parseErrorBody } from "../../src/core/read-plant.ts";
import { create } from "./request-template.ts";
import { baseUrl, choice } from "../../src/library/option-types.ts";
import { clientOptions } from "../../src/library/transport.ts";
import { converse, type Target } from "./conversation.ts";
import { printReport, type Streams } from "./report.ts";
import { listRules } from "./rules.ts";
import { idsPerRule, type RunOptions, runRules, toPlaceholders } from "./run.ts";
import { toSafeLine } from "./transcript.ts";

const { timeoutMs } = clientOptions;
const usage = [
  "usage: npm run conform -- --url URL [options]",
  "",
  "Tests whether a server keeps the contract of a plant store. It writes plants that the",
  "service cannot delete.",
  "",
  "  --url URL           the server; it has no default",
  "  -y, --yes           write the plants without asking",
  "  --token-file FILE   file that contains the token, or - for standard input",
  "                      (default: PLANTSTORE_TOKEN)",
  "  --cacert FILE       certificates of trusted authorities, in PEM",
  "  --status-mode MODE  status of failures: contract (400) or http",
  "                      (default: as the server describes itself)",
  "  --operations SET    operations of the server: create, or all, which also lists and",
  "                      deletes plants (default: as the server describes itself)",
  "  --first-id ID       first id of the plants to write: 15 digits (default: random)",
  `  --timeout TIME      maximum time for each connection (default: ${timeoutMs.type.format(timeoutMs.default)})`,
  "  --json              print one line of JSON for each rule",
  "  -v, --verbose       print the bytes of every rule, not only of failed ones",
  "  -h, --help          print this help",
  "",
  "Exit codes: 0 all rules pass, 2 wrong usage, 4 the token was rejected, 6 the server is",
  "unavailable, 8 a rule failed",
];

const modeType = choice<StatusMode>(statusModes);
const setType = choice<OperationSet>(operationSets);

type Options = NonNullable<ReturnType<typeof parseOptions>>;

/**
 * Tests the server of a command line, and prints a report.
 *
 * @returns the exit code; it never rejects
 */
export async function runConform(argv: readonly string[], io: Io): Promise<number> {
  const terminal = new Terminal(io);
  try {
    const options = parseOptions(argv);
    if (options !== undefined) {
      return await conform(options, { io, terminal }).catch((error: unknown) => {
        throw toCommandError(error, { flags: { url: options.url }, io });
      });
    }
    await writeText(io.stdout, `${usage.join("\n")}\n`);
    return exitCodes.done.code;
  } catch (error) {
    return printFailure(error, terminal);
  }
}

/** Parses a command line. @returns undefined for --help. @throws CommandError */
function parseOptions(argv: readonly string[]) {
  const flags = readFlags(argv);
  if (flags.help) return undefined;
  const { url, timeout, "status-mode": mode, "first-id": firstId, operations: set } = flags;
  if (url === undefined) throw wrongUsage("--url is missing: it has no default");
  return {
    url: parseText("--url", url, baseUrl),
    isConfirmed: flags.yes === true,
    tokenFile: flags["token-file"],
    cacert: flags.cacert,
    statusMode: mode === undefined ? undefined : parseText("--status-mode", mode, modeType),
    operations: set === undefined ? undefined : parseText("--operations", set, setType),
    firstId: firstId === undefined ? chooseFirstId() : parseFirstId(firstId),
    timeoutMs:
      timeout === undefined ? timeoutMs.default : parseText("--timeout", timeout, timeoutMs.type),
    json: flags.json === true,
    isVerbose: flags.verbose === true,
  };
}

function readFlags(argv: readonly string[]) {
  const text = { type: "string" } as const;
  const toggle = { type: "boolean" } as const;
  const options = {
    url: text,
    yes: { ...toggle, short: "y" },
    "token-file": text,
    cacert: text,
    "status-mode": text,
    operations: text,
    "first-id": text,
    timeout: text,
    json: toggle,
    verbose: { ...toggle, short: "v" },
    help: { ...toggle, short: "h" },
  } as const;
  try {
    return parseArgs({ args: [...argv], options }).values;
  } catch (error) {
    throw wrongUsage(error instanceof Error ? error.message : String(error));
  }
}

function wrongUsage(problem: string): CommandError {
  return new CommandError("usage", problem, { hints: ["", ...usage] });
}

/** A random id with 15 digits, so that runs do not meet each other's plants. */
function chooseFirstId(): bigint {
  return 10n ** 14n + BigInt(randomInt(2 ** 47)) * 6n;
}

/** Parses an id of 15 digits that leaves room for a million ids. */
function parseFirstId(text: string): bigint {
  const max = 10n ** 15n - 10n ** 6n;
  if (/^[1-9]\d{14}$/.test(text) && BigInt(text) <= max) return BigInt(text);
  throw wrongUsage(`--first-id must be an integer from ${10n ** 14n} to ${max}`);
}

async function conform(options: Options, run: Streams): Promise<number> {
  const { io } = run;
  if (!options.isConfirmed && !(canAsk(io) && options.tokenFile !== "-")) {
    throw wrongUsage(
      `conform writes plants to ${options.url} that the service cannot delete: pass --yes to confirm`,
    );
  }
  return interruptible(
    io,
    (signal) => test(options, run, signal),
    () => "plants that were sent stay in the store",
  );
}

async function test(
  options: Options,
  { io, terminal }: Streams,
  signal: AbortSignal,
): Promise<number> {
  const { url, tokenFile, firstId, isConfirmed } = options;
  const found = await findToken(tokenFile, url, io, signal);
  await warnAboutPlaintext(url, terminal);
  const ca = options.cacert && (await readAuthorities(options.cacert, io, signal));
  const target = { url, ca, token: found.token, timeoutMs: options.timeoutMs, signal };
  const described = await terminal.showWhile(
    () => `waiting for ${url}`,
    () => readDescription(target),
  );
  const { statusMode = described.statusMode } = options;
  const operations: OperationSet = options.operations ?? described.operations;
  const runOptions: RunOptions = { ...target, statusMode, firstId };
  await assertAccepted(runOptions, found.source);

  const rules = listRules(operations);
  const lastId = firstId + BigInt(rules.length * idsPerRule) - 1n;
  await terminal.note(`conform writes plants to ${url}, and the service cannot delete them:`);
  await terminal.note(
    `  ids ${firstId} to ${lastId}, also with a minus sign or with 9000 in front`,
  );
  await terminal.note(`  ids 0, ${int64Min} and ${int64Max}`);
  if (!isConfirmed && !(await confirm("Continue? [y/N] ", io, signal))) {
    throw new CommandError("usage", "not confirmed: no plant was sent");
  }
  let done = 0;
  const results = await terminal.showWhile(
    () => `${done} of ${rules.length} rules`,
    () => runRules(rules, runOptions, () => void (done += 1)),
  );
  await printReport(
    results,
    { ...options, operations, statusMode, token: found.token },
    { io, terminal },
  );
  const isKept = results.every(({ problem }) => problem === undefined);
  return (isKept ? exitCodes.done : exitCodes.someMissing).code;
}

/** What a server says about itself. */
type Described = Pick<RunOptions, "statusMode"> & { readonly operations: OperationSet };

/**
 * Reads which status a server sends with a failure, and its operations, from `/openapi.json` at its root.
 *
 * @returns `http` if it documents status 422 for a create, and `all` if it documents lists and deletes; otherwise, and
 * without a readable description, `contract` and `create`
 * @throws UnavailableError if no connection can be opened
 */
async function readDescription(target: Target): Promise<Described> {
  const { signal } = target;
  const url = joinPath(toEndpoint(target.url).origin, "/openapi.json");
  try {
    const { body } = await post({ ...target, url, method: "GET", headers: {}, body: "" });
    const { paths } = (JSON.parse(new TextDecoder().decode(body)) ?? {}) as Description;
    const plants = paths?.["/plants"];
    const isHttp = plants?.post?.responses?.["422"] !== undefined;
    const isAll = plants?.get !== undefined && paths?.["/plants/{id}"]?.delete !== undefined;
    return { statusMode: isHttp ? "http" : "contract", operations: isAll ? "all" : "create" };
  } catch (error) {
    signal.throwIfAborted();
    const isUnreachable =
      error instanceof UnavailableError && /^(?:refused|unknownHost|insecure)$/.test(error.reason);
    const isDescribed = error instanceof UnavailableError || error instanceof NotAPlantStoreError;
    if (isUnreachable || !(isDescribed || error instanceof SyntaxError)) throw error;
    return { statusMode: "contract", operations: "create" };
  }
}

/** The part of an OpenAPI document that is read. Any part of it may be missing. */
interface Description {
  readonly paths?: {
    readonly "/plants"?: {
      readonly get?: unknown;
      readonly post?: { readonly responses?: Record<string, unknown> };
    };
    readonly "/plants/{id}"?: { readonly delete?: unknown };
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
    if (isUnreachable && failure !== undefined) throw classifyError(failure, { url, ca });
    const problem = hasTimedOut ? "; a higher --timeout waits longer" : "";
    throw new CommandError("unavailable", `no HTTP response from ${url}: try again${problem}`);
  }
  const error = parseErrorBody(response.bodyBytes);
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
