/** The words and the examples of the interface description: what part 2 of the contract decides, as a client sees it. */
import { errorTable } from "./errors.ts";
import { int64Max, int64Min } from "./int64.ts";
import { maxNesting } from "./json.ts";
import type { ConflictPolicy } from "./store.ts";

/** About the service as a whole. */
export const serviceDescription = `\
One durable store of plants, with one operation: \`POST /plants\`. Every request needs a bearer token. Any
failure of the operation is answered with 400 and an Error, whose \`error\` says which it was.`;

/** About the token. */
export const credentialDescription = `\
\`Authorization: Bearer <ACCESS_TOKEN>\`, on each request exactly once; the scheme in any case of letters. It is checked
before the body is read. Tokens in the query or in the body are not looked at. Whoever runs the service issues the
tokens; one that plantstore has issued begins with \`pst_\`.`;

/** About the body of a create. */
export function toBodyDescription(maxBodyBytes: number): string {
  return `\
A NewPlant, as JSON in UTF-8 of at most ${maxBodyBytes} bytes and ${maxNesting} levels.

- \`id\` is any JSON number that is an integer from ${int64Min} to ${int64Max}: \`1\`, \`1.0\`,
  \`1e3\`. It is never rounded. \`"1"\` and \`1.5\` are refused with ${errorTable.idNotInteger.error}.
- \`name\` and \`tag\` are any strings, the empty one included, and come back exactly. \`null\` is not a string: leave \`tag\` out.
- Other members are accepted, and neither stored nor returned. A member that occurs twice is refused.
- A charset other than UTF-8 and a content coding are refused. \`Accept\` is ignored.`;
}

/** About the operation. */
export function toOperationDescription(onConflict: ConflictPolicy): string {
  return `\
Creates a new plant in the store. A 200 means that it is on the disk: flushed, so that it survives the loss of power.

The same \`id\` again with the same \`name\` and \`tag\` is 200 once more, and nothing is written: a create whose answer
was lost can be repeated. ${conflictWords[onConflict]}

Every failure is answered with 400. Its \`error\` is the HTTP status that it would have elsewhere, × 100, plus a detail; numbers
are never reused:

| error | when |
| --- | --- |
${Object.values(errorTable)
  .filter(({ error }) => !otherOperations.has(error))
  .map(({ error, when }) => `| ${error} | ${when} |`)
  .join("\n")}

When several rules are broken, \`message\` names all of them, and \`error\` is the first.`;
}

const conflictWords: Readonly<Record<ConflictPolicy, string>> = {
  reject: `\
With another \`name\` or \`tag\` it is refused with ${errorTable.idTaken.error}, and the stored plant stays as it is. Of
several different creates of one \`id\` at the same time, exactly one succeeds.`,
  replace: `\
With another \`name\` or \`tag\` it is stored in place of the old one.`,
};

/** Of paths and methods that are not the operation; these are answered with 404 and 405. */
const otherOperations: ReadonlySet<number> = new Set([
  errorTable.noSuchPath.error,
  errorTable.noSuchMethod.error,
]);

/** Bodies that are accepted. */
export const goodRequests = {
  fern: { summary: "A plant", value: { id: 1, name: "fern" } },
  tagged: { summary: "With a tag", value: { id: 2, name: "monstera", tag: "pot" } },
  largestId: {
    summary: "The largest id; read it as 64 bits",
    value: { id: int64Max, name: "oak" },
  },
};

/** The answers to {@link goodRequests}. */
export const goodAnswers = {
  fern: { summary: "A plant", value: { name: "fern" } },
  tagged: { summary: "With a tag", value: { name: "monstera", tag: "pot" } },
};

/** Requests that are refused, in words, each with the Error that answers it. */
export const badRequests = {
  idMissing: {
    summary: "id missing",
    description: 'The answer to `{"name":"fern"}`',
    value: {
      error: errorTable.idMissing.error,
      message: `/id is missing: it must be an integer from ${int64Min} to ${int64Max}`,
    },
  },
  idNotInteger: {
    summary: "id is not an integer",
    description: 'The answer to `{"id":"1","name":"fern"}`',
    value: {
      error: errorTable.idNotInteger.error,
      message: `/id is a string: it must be an integer from ${int64Min} to ${int64Max}`,
    },
  },
  tagNotString: {
    summary: "tag is not a string",
    description: 'The answer to `{"id":1,"name":"fern","tag":null}`',
    value: {
      error: errorTable.tagNotString.error,
      message: "/tag is null: it must be a string, or be left out",
    },
  },
  notJson: {
    summary: "body is not JSON",
    description: 'The answer to `{"id":1,"name":\'fern\'}`',
    value: {
      error: errorTable.notJson.error,
      message: 'the body is not JSON: at byte 15 stands "\'", where a value was expected',
    },
  },
  noCredential: {
    summary: "no credential",
    description: "The answer to a request without an Authorization header",
    value: {
      error: errorTable.noCredential.error,
      message: 'no credential: send the header "Authorization: Bearer <ACCESS_TOKEN>"',
    },
  },
};

/** Only where the policy is to reject. */
export const conflictExample = {
  summary: "id belongs to a different plant",
  description: 'The answer to `{"id":1,"name":"moss"}` where 1 is a fern',
  value: {
    error: errorTable.idTaken.error,
    message: "/id 1 belongs to a different plant, which stays as it is: choose another id",
  },
};
