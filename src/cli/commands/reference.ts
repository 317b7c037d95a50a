/** The commands `explain` and `openapi`, which describe the interface and contact no server. */
import { toEndpoint } from "../../core/base-url.ts";
import { type ErrorKind, errorKinds, errorTable, toStatus } from "../../core/errors.ts";
import { quoteInput } from "../../core/messages.ts";
import { createOpenApiDocument, toOpenApiJson } from "../../core/openapi.ts";
import { storeOptions } from "../../library/store-options.ts";
import { adviseCommand, commonExitCodes, CommandError } from "../command-error.ts";
import { adviseRights, toExitCode } from "../command-failure.ts";
import { type CommandBody, redirectAdvice, type Run } from "../command.ts";
import { writeText } from "../io.ts";
import { explainOptions, openApiOptions } from "../options/remote.ts";
import { readOptions } from "../options/values.ts";

export const explainCommand: CommandBody = {
  description: `Explains error numbers of a plant store: their condition, how to fix them, and the
exit code of "plantstore create". The first digits of a number select all numbers
that begin with them.`,
  options: explainOptions,
  listValues: async () =>
    errorKinds.map((kind) => [String(errorTable[kind].error), errorTable[kind].when]),
  examples: [
    "plantstore explain 40900",
    "plantstore explain idTaken 401",
    "plantstore explain | grep token",
    "plantstore explain --json | jq .remedy",
  ],
  exitCodes: commonExitCodes,
  run: printExplanation,
};

export const openApiCommand: CommandBody = {
  description: `Prints the interface description, OpenAPI 3.1, of a plant store, and contacts
none. A running server publishes its own at /openapi.json, without a token.
"plantstore help test" generates a client from it.`,
  options: openApiOptions,
  examples: [
    "plantstore openapi > openapi.json",
    "plantstore openapi --operations all",
    "plantstore openapi --public-url https://plants.example.org/v1",
  ],
  operandAdvice: redirectAdvice,
  exitCodes: commonExitCodes,
  run: printOpenApi,
};

async function printExplanation({ operands: names, flags, io, terminal }: Run): Promise<void> {
  const { json } = readOptions(explainOptions, flags, io);
  const isList = names.length === 0;
  const kinds = isList ? errorKinds : [...new Set(names.flatMap(findKinds))];
  if (json) return terminal.printLines(kinds.map(toErrorJson));
  await writeText(io.stdout, isList ? listErrors() : kinds.map(explainError).join("\n"));
}

/** @param name a number, its first digits, or a name */
function findKinds(name: string): readonly ErrorKind[] {
  const wanted = name.toLowerCase();
  const isPrefix = /^\d+$/.test(name);
  const kinds = errorKinds.filter((each) => {
    const number = String(errorTable[each].error);
    return each.toLowerCase() === wanted || (isPrefix && number.startsWith(name));
  });
  if (kinds.length > 0) return kinds;
  const hints = adviseCommand("List all errors", "plantstore explain");
  throw new CommandError("usage", `unknown error "${quoteInput(name)}"`, { hints });
}

function toErrorJson(kind: ErrorKind): string {
  const { error, when, remedy } = errorTable[kind];
  return JSON.stringify({ error, name: kind, when, remedy, exitCode: toExitCode(error) });
}

function listErrors(): string {
  const terms = errorKinds.map((kind) => `${errorTable[kind].error}  ${kind}`);
  const width = Math.max(...terms.map((term) => term.length));
  const lines = errorKinds.map((kind, index) => {
    const { error, when } = errorTable[kind];
    return `${terms[index]?.padEnd(width)}  ${when} (exit code ${toExitCode(error)})\n`;
  });
  return lines.join("");
}

function describeStatus(kind: ErrorKind): string {
  const [status, other] = [toStatus(kind, "contract"), toStatus(kind, "http")];
  return status === other ? `${status}` : `${status}, or ${other} with serve --status-mode http`;
}

function explainError(kind: ErrorKind): string {
  const { error, next, when, remedy } = errorTable[kind];
  const margin = `\n${" ".repeat("What to do: ".length)}`;
  const lines = [
    ...(error === errorTable.forbidden.error ? adviseRights("create") : []),
    ...(next === "token" ? [...adviseCommand("Log in", "plantstore login"), "In a program: "] : []),
  ];
  return `\
${error} ${kind}: ${when}

Status:     ${describeStatus(kind)}
What to do: ${lines.join(margin)}${remedy}
Exit code:  ${toExitCode(error)}, of "plantstore create"
`;
}

async function printOpenApi({ flags, io }: Run): Promise<void> {
  const { publicUrl, operations } = readOptions(openApiOptions, flags, io);
  const document = createOpenApiDocument({
    url: toEndpoint(publicUrl).httpUrl,
    operations,
    maxBodyBytes: storeOptions.maxBodyBytes.default,
    onConflict: storeOptions.onConflict.default,
  });
  await writeText(io.stdout, toOpenApiJson(document));
}
