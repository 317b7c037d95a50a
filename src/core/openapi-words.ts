/** Texts and examples of the interface description: what clients need to know of contract.md. */
import { operations } from "./contract.ts";
import { errorRows, errorTable, RequestError, type StatusMode, toIdTakenError } from "./errors.ts";
import { int64Max, int64Min } from "./int64.ts";
import { maxNesting } from "./json.ts";
import { readNewPlant } from "./read-body.ts";
import type { ConflictPolicy } from "./store.ts";
import { joinWords } from "./words.ts";

/** Describes the service. */
export function toServiceDescription(statusMode: StatusMode | undefined): string {
  return `\
A durable store of plants with ${listOperations()}. Every request needs a bearer token. Every
failure of the operation has ${failureStatus[statusMode ?? "contract"]} and an Error; its \`error\` identifies the failure.`;
}

function listOperations(): string {
  const listed = Object.values(operations).filter(({ needsToken }) => needsToken);
  const names = listed.map(({ method, path }) => `\`${method} ${path}\``);
  return names.length === 1
    ? `one operation: ${names[0]}`
    : `${names.length} operations: ${joinWords(names)}`;
}

/** The status of a failure, in words. */
const failureStatus: Readonly<Record<StatusMode, string>> = {
  contract: "status 400",
  http: "its usual HTTP status",
};

/** Describes the token. */
export const credentialDescription = `\
Send \`Authorization: Bearer <ACCESS_TOKEN>\` exactly once with each request. The scheme is case-insensitive. The server
checks the token before it reads the body, and ignores tokens in the query or the body. The server's operator issues
tokens. Tokens issued by plantstore start with \`pst_\`.`;

/** Describes the body of a create. */
export function toBodyDescription(maxBodyBytes: number): string {
  return `\
A NewPlant: JSON in UTF-8 with at most ${maxBodyBytes} bytes and ${maxNesting} levels.

- \`id\` is any JSON number that is an integer from ${int64Min} to ${int64Max}: \`1\`, \`1.0\`,
  \`1e3\`. It is never rounded. \`"1"\` and \`1.5\` are rejected with ${errorTable.idNotInteger.error}.
- Strings can be any, including the empty string. They are stored exactly. \`null\` is not a string: leave an optional member out.
- Unknown members are ignored. Duplicate members are rejected.
- A charset other than UTF-8 and a compressed body are rejected. \`Accept\` is ignored.`;
}

/** Describes the status of failures and their numbers. */
const failureWords: Readonly<Record<StatusMode, string>> = {
  contract: `\
Every failure has status 400. \`error\` is the usual HTTP status of the failure times 100, plus a detail number. Numbers are
never reused:`,
  http: `\
This server runs with \`--status-mode http\`: the status of a failure is the one that its \`error\` begins with. In the plant
store contract, every failure has status 400. \`error\` is the status times 100, plus a detail number. Numbers are never reused:`,
};

/** Describes the operation. */
export function toOperationDescription(
  onConflict: ConflictPolicy,
  statusMode: StatusMode | undefined,
): string {
  return `\
Creates a new plant in the store. A 200 means that the plant has been flushed to disk and survives a power failure.

Sending the same plant again returns 200 and writes nothing, so clients can safely retry if they did not receive a
response. ${conflictWords[onConflict]}

${failureWords[statusMode ?? "contract"]}

| error | when |
| --- | --- |
${failures.map(({ error, when }) => `| ${error} | ${when} |`).join("\n")}

If several rules are broken, \`message\` names all of them, and \`error\` is the first one in the table.`;
}

const conflictWords: Readonly<Record<ConflictPolicy, string>> = {
  reject: `\
A different plant with the same \`id\` is rejected with ${errorTable.idTaken.error}, and the stored plant does not change. If
clients send different plants with one id at the same time, exactly one create succeeds.`,
  replace: `\
A different plant with the same \`id\` replaces the stored plant.`,
};

/** Rows of the error table that belong to the operation. */
export const failures = errorRows.filter(({ status }) => status === undefined);

/** Examples of valid bodies. */
export const goodRequests = {
  fern: { summary: "A plant", value: { id: 1, name: "fern" } },
  tagged: { summary: "With a tag", value: { id: 2, name: "monstera", tag: "pot" } },
  largestId: {
    summary: "The largest id (parse it as a 64-bit integer)",
    value: { id: int64Max, name: "oak" },
  },
};

/** Responses to {@link goodRequests}. */
export const goodResponses = {
  fern: { summary: "A plant", value: { name: "fern" } },
  tagged: { summary: "With a tag", value: { name: "monstera", tag: "pot" } },
};

/** Descriptions of invalid requests, with the Error in the response. */
export const badRequests = {
  idMissing: toBadBody('{"name":"fern"}'),
  idNotInteger: toBadBody('{"id":"1","name":"fern"}'),
  tagNotString: toBadBody('{"id":1,"name":"fern","tag":null}'),
  notJson: toBadBody(`{"id":1,"name":'fern'}`),
  noCredential: toBadRequest(
    new RequestError(
      "noCredential",
      'no credential: send the header "Authorization: Bearer <ACCESS_TOKEN>"',
    ),
    "a request without an Authorization header",
  ),
};

/** Example for the policy `reject`. */
export const conflictExample = toBadRequest(
  toIdTakenError(1n),
  '`{"id":1,"name":"moss"}` if the stored plant 1 is a fern',
);

function toBadBody(body: string) {
  return toBadRequest(readNewPlant(new TextEncoder().encode(body)) as RequestError, `\`${body}\``);
}

/** @param request describes the rejected request */
function toBadRequest({ kind, error, message }: RequestError, request: string) {
  return {
    summary: errorTable[kind].when,
    description: `Response to ${request}`,
    value: { error, message },
  };
}
