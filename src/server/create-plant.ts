/** The create operation: from a request to its response (contract.md). */
import { toBearerToken } from "../auth/credential.ts";
import { type Problem, RequestError, toIdTakenError } from "../core/errors.ts";
import type { NewPlant } from "../core/plant.ts";
import { readNewPlant } from "../core/read-body.ts";
import type { ConflictPolicy } from "../core/store.ts";
import type { Admission } from "./admission.ts";
import { serverStopping } from "./failure.ts";
import type { Faults } from "./faults.ts";
import type { ServerBackend } from "./options.ts";
import type { HttpHeaders, HttpRequest } from "./request.ts";
import { type HttpResponse, toPlantResponse } from "./response.ts";

/** Options for {@link createPlant}. */
export interface CreateContext {
  readonly admission: Admission;
  readonly maxBodyBytes: number;
  readonly onConflict: ConflictPolicy;
  readonly faults?: Pick<Faults, "perform"> | undefined;
}

/**
 * Creates the plant in a request. The credential is checked before any other part of the request.
 *
 * @throws StoreError when the store fails
 */
export async function createPlant(
  request: HttpRequest,
  { store, authenticator }: ServerBackend,
  context: CreateContext,
): Promise<HttpResponse | RequestError> {
  const { headers } = request;
  const { admission, faults, maxBodyBytes } = context;
  const token = toBearerToken(headers["authorization"] ?? []);
  if (token instanceof RequestError) return token;
  const error =
    (await authenticator.check(token)) ??
    (request.isLate ? serverStopping : undefined) ??
    checkHeaders(headers, maxBodyBytes) ??
    admission.checkCreates();
  if (error !== undefined) return error;

  const plant = await readPlant(request, maxBodyBytes);
  if (plant instanceof RequestError) return plant;
  const fullError = admission.beginCreate();
  if (fullError !== undefined) return fullError;
  const create = async (): Promise<HttpResponse | RequestError> => {
    const requestedAtMs = performance.now();
    let plants = 0;
    const result = await store.create(plant, context.onConflict, (count) => {
      plants = count;
    });
    if (result === "conflict") return toIdTakenError(plant.id);
    const durableAtMs = performance.now();
    return toPlantResponse(plant, result, { requestedAtMs, durableAtMs, plants });
  };
  try {
    return await (faults === undefined ? create() : faults.perform(create));
  } finally {
    admission.endCreate();
  }
}

/** A function of its own, so that the body is not kept while the plant waits for the store. */
async function readPlant(
  request: HttpRequest,
  maxBodyBytes: number,
): Promise<NewPlant | RequestError> {
  const body = await request.readBody(maxBodyBytes);
  return body instanceof RequestError ? body : readNewPlant(body);
}

/** Checks the headers about the body before it is read (contract.md "Body"). The error names every broken rule. */
function checkHeaders(headers: HttpHeaders, maxBytes: number): RequestError | undefined {
  const problems: Problem[] = [];
  const types = headers["content-type"];
  const typeProblem =
    types !== undefined && types.length > 1 ? multipleTypes : findTypeProblem(types?.[0]);
  if (typeProblem !== undefined) problems.push(typeProblem);
  if (isCoded(headers)) problems.push(codedBody);
  if (Number(headers["content-length"]?.[0] ?? 0) > maxBytes) problems.push(bodyTooLarge(maxBytes));
  if (!isExpectationMet(headers["expect"] ?? [])) problems.push(unknownExpectation);
  return problems.length > 0 ? RequestError.naming(problems) : undefined;
}

/** RFC 9110 section 10.1.1 defines one expectation. */
function isExpectationMet(expectations: readonly string[]): boolean {
  return expectations.every((each) => each.toLowerCase() === "100-continue");
}

const unknownExpectation: Problem = {
  kind: "expectation",
  message: 'the expectation is not supported: only "100-continue" is',
};

/** The problem with a body over the limit. */
export function bodyTooLarge(maxBytes: number): Problem {
  const message = `the body is over the limit of ${maxBytes} bytes: send a smaller body`;
  return { kind: "bodyTooLarge", message };
}

const codedBody: Problem = {
  kind: "contentCoding",
  message: "the body has a content coding: send it without one",
};
const typeAdvice = 'send the header "Content-Type: application/json"';
const multipleTypes: Problem = {
  kind: "notJsonType",
  message: `more than one Content-Type header: ${typeAdvice} once`,
};
/** One parameter of a media type (RFC 9110 section 5.6.6), with a bare or a quoted value. */
const parameter = /;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

function findTypeProblem(contentType: string | undefined): Problem | undefined {
  if (contentType === "application/json") return undefined;
  if (contentType === undefined) {
    return { kind: "notJsonType", message: `the content type is missing: ${typeAdvice}` };
  }
  const mediaType = contentType.split(";", 1).join().trim().toLowerCase();
  if (mediaType !== "application/json") {
    const isForm = mediaType === "application/x-www-form-urlencoded";
    const hint = isForm ? ' (curl -d needs -H "Content-Type: application/json")' : "";
    return { kind: "notJsonType", message: `the content type is not JSON: ${typeAdvice}${hint}` };
  }
  for (const [, name = "", quoted, bare = ""] of contentType.matchAll(parameter)) {
    const value = quoted?.replace(/\\(.)/g, "$1") ?? bare;
    if (name.toLowerCase() === "charset" && value.toLowerCase() !== "utf-8") {
      return { kind: "notUtf8Charset", message: "the charset is not UTF-8: leave it out" };
    }
  }
  return undefined;
}

function isCoded(headers: HttpHeaders): boolean {
  return (
    hasOtherThan(["", "identity"], headers["content-encoding"]) ||
    hasOtherThan(["", "chunked"], headers["transfer-encoding"])
  );
}

function hasOtherThan(names: readonly string[], lists: readonly string[] | undefined): boolean {
  if (lists === undefined) return false;
  const codings = lists.flatMap((list) => list.split(","));
  return codings.some((coding) => !names.includes(coding.trim().toLowerCase()));
}
