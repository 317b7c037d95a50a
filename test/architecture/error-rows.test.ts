/** Server, client, command line and interface description derive from a row of the error table, not from its number. */
import { expect, it, vi } from "vitest";
import type * as table from "../../src/core/errors.ts";
import { toExitCode } from "../../src/cli/command-failure.ts";
import { isRetryable } from "../../src/client/create-plant.ts";
import { concernsEveryCreate } from "../../src/client/create-plants.ts";
import { toItemResult } from "../../src/client/results.ts";
import {
  type ErrorKind,
  errorKinds,
  type ErrorRow,
  errorTable,
  type NextStep,
  RequestError,
} from "../../src/core/errors.ts";
import { createOpenApiDocument, toOpenApiJson } from "../../src/core/openapi.ts";
import { createLog, jsonFormat, type LogLevel } from "../../src/server/log.ts";
import { toErrorResponse } from "../../src/server/response.ts";

/** Rows that this file changes, on a copy of the module. */
vi.mock("../../src/core/errors.ts", async (load) => {
  const errors = await load<typeof table>();
  const changes: Partial<Record<ErrorKind, Partial<ErrorRow>>> = {
    emptyBody: { next: "token" },
    tooDeep: { next: "conflict" },
    notJson: { next: "server", status: 404 },
    notObject: { next: "retry", retryAfterS: 7 },
    idMissing: { next: "retry" },
    nameMissing: { next: "resend" },
    overloaded: { next: "later" },
  };
  for (const [kind, change] of Object.entries(changes)) {
    Object.assign(errors.errorTable[kind as ErrorKind], change);
  }
  return errors;
});

/** The exit code, whether clients retry, whether every create gets the error, and the level in the log. */
const expected: Readonly<
  Record<NextStep, readonly [exit: number, retried: boolean, all: boolean, level: LogLevel]>
> = {
  fix: [3, false, false, "info"],
  token: [4, false, true, "info"],
  conflict: [5, false, false, "info"],
  absent: [9, false, false, "info"],
  server: [7, false, true, "info"],
  later: [6, false, false, "error"],
  resend: [6, true, false, "info"],
  retry: [6, true, false, "error"],
};

/** Returns the level of a failed create in the log. */
function readLevel(error: number): unknown {
  let line = "";
  const log = createLog(jsonFormat, "debug", (text) => (line += text));
  log.request({
    method: "POST",
    path: "/plants",
    operation: "create",
    status: 400,
    error,
    durationMs: 1,
    bytes: 1,
    requestId: "a",
    isAborted: false,
  });
  return (JSON.parse(line) as { readonly level: unknown }).level;
}

it.each(errorKinds)("%s does what its row says", (kind) => {
  const row: ErrorRow = errorTable[kind];
  const { error, next } = row;
  const status = row.status ?? 400;
  const sent = toErrorResponse(new RequestError(kind, "a message"));
  expect(sent.status).toBe(status);
  const seconds = row.retryAfterS;
  expect(new Map(sent.headers).get("Retry-After")).toBe(seconds && String(seconds));

  expect(readLevel(error)).toBe(seconds === undefined ? expected[next][3] : "warn");
  expectClient(error, next);
});

/** Expects that the client and the command line do what a step says. */
function expectClient(error: number, next: NextStep): void {
  const response = { ok: false, error: { error, message: "a message" } } as const;
  const [exitCode, isRetried, concernsAll] = expected[next];
  expect(toExitCode(error)).toBe(exitCode);
  expect(isRetryable(response)).toBe(isRetried);
  expect(concernsEveryCreate(response)).toBe(concernsAll);
  expect(toItemResult(response).status).toBe(exitCode === 6 ? "failed" : "rejected");
}

it.each([
  [50399, "retry"],
  [50001, "retry"],
  [59999, "retry"],
  [42900, "retry"],
  [40801, "resend"],
  [40199, "token"],
  [40301, "token"],
  [40402, "server"],
  [40501, "server"],
  [40901, "conflict"],
  [41401, "server"],
  [42299, "fix"],
  [60000, "fix"],
  [0, "fix"],
  [-1, "fix"],
  [1, "fix"],
  [999, "fix"],
  [2_147_483_647, "fix"],
] as const)("%i, a number of a later version, does what its status says: %s", expectClient);

it("the interface description says what the rows say", () => {
  const server = {
    url: "http://127.0.0.1:7526",
    maxBodyBytes: 1000,
    onConflict: "reject",
  } as const;
  const json = toOpenApiJson(createOpenApiDocument({ ...server, statusMode: "http" }));
  const { responses } = (JSON.parse(json) as Description).paths["/plants"].post;
  const statusesWith = (header: string): string[] =>
    Object.keys(responses).filter((status) => header in (responses[status]?.headers ?? {}));
  expect(statusesWith("Retry-After")).toEqual(["422", "503"]);
  expect(statusesWith("WWW-Authenticate")).toEqual(["400", "401", "403"]);
  expect(json).toContain("with errors 42200, 50300, 50301 and 50302");
  expect(json).not.toContain("| 40001 |");
});

/** The part of the description that the test reads. */
interface Description {
  readonly paths: {
    readonly "/plants": {
      readonly post: {
        readonly responses: Readonly<Record<string, { readonly headers: object }>>;
      };
    };
  };
}
