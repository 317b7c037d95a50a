/** Writes the log of a server: one line for each request, and errors. Never contains a header, a body or a token. */
import { errorTable, findErrorRow, type NextStep } from "../core/errors.ts";
import { isError, quoteInput, redactTokens } from "../core/messages.ts";
import { StoreError } from "../core/store.ts";
import type { RequestRecord } from "./request.ts";

/** Formats the lines of a log. A result includes its line break. */
export interface LineFormat {
  request(level: LogLevel, record: RequestRecord): string;
  /** Formats a message, which contains no token. */
  message(level: LogLevel, text: string): string;
}

/** From the most important to the least. */
const logLevels = ["error", "warn", "info", "debug"] as const;

export type LogLevel = (typeof logLevels)[number];

export interface Log {
  /** Logs a request; those of monitoring at level `debug`. */
  request(record: RequestRecord): void;
  message(level: LogLevel, text: string): void;
  /** Logs a failure of the store as one line, any other error with its stack. */
  error(error: unknown): void;
}

/** The same error is logged at most once in this time: a full disk fails thousands of requests a second. */
const repeatAfterMs = 1000;
/** Maximum length of an unknown path, in UTF-16 code units. */
const maxPath = 200;
/** Paths that need no quoting, in text and in JSON. */
const plainPath = /^(?!.*pst_)[\w/.~:@!$&()*+,;=%-]{0,200}$/;

/**
 * Creates a log.
 *
 * @param level the least important level that is logged
 * @param write writes a line, which includes its line break
 */
export function createLog(format: LineFormat, level: LogLevel, write: (line: string) => void): Log {
  const threshold = logLevels.indexOf(level);
  const isLogged = (each: LogLevel): boolean => logLevels.indexOf(each) <= threshold;
  const isRepeated = createRepetitionCheck();

  function message(each: LogLevel, text: string): void {
    if (isLogged(each)) write(format.message(each, redactTokens(text)));
  }

  return {
    request(record) {
      const each = toLevel(record);
      if (isLogged(each)) write(format.request(each, record));
    },
    message,
    error(error) {
      const text = describe(error);
      if (!isRepeated(text)) message("error", text);
    },
  };
}

/** Operations of monitoring, and checks of tokens. */
const quietOperations = new Set<RequestRecord["operation"]>([
  "health",
  "readiness",
  "metrics",
  "probe",
]);

/** Errors of the server are logged as errors, transient ones as warnings. */
const levelByStep: Readonly<Record<NextStep, LogLevel>> = {
  fix: "info",
  token: "info",
  conflict: "info",
  absent: "info",
  server: "info",
  later: "error",
  resend: "info",
  retry: "error",
};

function toLevel({ operation, error }: RequestRecord): LogLevel {
  const row = error === undefined ? undefined : findErrorRow(error);
  // Anyone can send the header of a check, and it must not hide that tokens are guessed.
  const isRejectedToken = row?.next === "token" && error !== errorTable.noCredential.error;
  if (quietOperations.has(operation) && !isRejectedToken) return "debug";
  if (row === undefined) return "info";
  // The server expects to recover by itself.
  return row.retryAfterS === undefined ? levelByStep[row.next] : "warn";
}

function toJsonLine(level: LogLevel, record: RequestRecord): string {
  const { method, path, status, error, durationMs, bytes, requestId } = record;
  const { batch, commitWaitMs, result, traceId } = record;
  const request =
    method === undefined ? "" : `,"method":"${method}","path":"${toShownPath(path ?? "")}"`;
  const number = error === undefined ? "" : `,"error":${error}`;
  const outcome = result === undefined ? "" : `,"result":"${result}"`;
  const commit =
    commitWaitMs === undefined ? "" : `,"commit_wait":${commitWaitMs.toFixed(3)},"batch":${batch}`;
  const trace = traceId === undefined ? "" : `,"trace_id":"${traceId}"`;
  const lost = record.isDropped ? ',"dropped":true' : record.isAborted ? ',"aborted":true' : "";
  return `{"time":"${now()}","level":"${level}"${request},"status":${status}${number}${outcome},"duration":${durationMs.toFixed(3)}${commit},"bytes":${bytes},"id":"${requestId}"${trace}${lost}}\n`;
}

export const jsonFormat: LineFormat = {
  request: toJsonLine,
  message: (level, text) =>
    `{"time":"${now()}","level":"${level}","message":${JSON.stringify(text)}}\n`,
};

/** Quotes a path for every format. */
export function toShownPath(path: string): string {
  return plainPath.test(path) ? path : JSON.stringify(quoteInput(path, maxPath)).slice(1, -1);
}

let lastMs = 0;
let lastTime = "";

/** The current time, formatted once a millisecond. */
function now(): string {
  const nowMs = Date.now();
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastTime = new Date(nowMs).toISOString();
  }
  return lastTime;
}

function createRepetitionCheck(): (text: string) => boolean {
  let reported = new Set<string>();
  let sinceMs = Number.NEGATIVE_INFINITY;
  return (text) => {
    const nowMs = performance.now();
    if (nowMs - sinceMs >= repeatAfterMs) {
      reported = new Set();
      sinceMs = nowMs;
    }
    if (reported.has(text)) return true;
    reported.add(text);
    return false;
  };
}

function describe(error: unknown): string {
  if (error instanceof StoreError) return `store: ${error.message}`;
  const stack = isError(error) ? error.stack : undefined;
  return `unexpected: ${stack ?? String(error)}`;
}
