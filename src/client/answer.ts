/** Reads the answer to a create: a Plant or an Error, or what no plant store says (CONTRACT part 1). */
import { type ErrorBody, parseErrorBody, parsePlant, type Plant } from "../core/plant.ts";
import { quoteInput } from "../core/quote.ts";
import type { CreateResult } from "../core/store.ts";
import { NotAPlantStoreError, UnavailableError } from "./client-error.ts";
import type { HttpAnswer } from "./http/message.ts";

/** What became of a plant that was created. */
type SuccessfulResult = Exclude<CreateResult, "conflict">;

/** A plant store's answer. */
export type CreateAnswer =
  | {
      readonly ok: true;
      readonly plant: Plant;
      /** Absent when the server does not tell; plantstore does. */
      readonly result?: SuccessfulResult | undefined;
    }
  | {
      readonly ok: false;
      readonly error: ErrorBody;
      /** Under which the server's log has the request. */
      readonly requestId?: string | undefined;
    };

/**
 * What a proxy answers while it can't reach the plant store, which itself answers with 400 where it fails: too much at a
 * time (RFC 6585 section 4), a server that is slow, away or broken (RFC 9110 section 15.6).
 */
const gatewayStatuses: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/**
 * The Plant or the Error that an answer holds.
 *
 * @param url where the request went to, for the message
 * @throws NotAPlantStoreError when it is neither; says what came instead
 * @throws UnavailableError when a proxy says that it will pass
 */
export function parseAnswer(answer: HttpAnswer, url: string): CreateAnswer {
  const { status, headers, body } = answer;
  const foreign = (message: string): Error => new NotAPlantStoreError(url, message);

  if (status >= 300 && status <= 399) {
    const target = readHeader(headers, "location") ?? "nowhere";
    throw foreign(`it redirects to ${quoteInput(target, 200)}, and redirects are not followed`);
  }
  if (gatewayStatuses.has(status)) throw new UnavailableError("gateway", url, `status ${status}`);
  if (status !== 200 && status !== 400) throw foreign(describeStatus(answer));
  const coding = readHeader(headers, "content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity") {
    throw foreign(`its answer is compressed (${quoteInput(coding)})`);
  }
  const type = readHeader(headers, "content-type") ?? "none";
  if (!/^application\/json[ \t]*(?:;|$)/i.test(type)) {
    throw foreign(`its answer has the content type ${quoteInput(type)}, not application/json`);
  }

  if (status === 400) {
    const error = parseErrorBody(body);
    if (error === undefined) throw foreign("its answer has the status 400 and holds no Error");
    return { ok: false, error, requestId: readHeader(headers, "x-request-id") };
  }
  const plant = parsePlant(body);
  if (plant === undefined) throw foreign("its answer has the status 200 and holds no Plant");
  return { ok: true, plant, result: toResult(readHeader(headers, "x-plantstore-result")) };
}

/** A header that came exactly once, or several times joined as a list (RFC 9110 section 5.3). */
export function readHeader(headers: HttpAnswer["headers"], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** A plant store's own 404 says more than its number. */
function describeStatus({ status, body }: HttpAnswer): string {
  const error = parseErrorBody(body);
  const detail = error && ` (error ${error.error}: ${quoteInput(error.message, 200)})`;
  return `its answer has the status ${status}${detail ?? ""}`;
}

function toResult(text: string | undefined): SuccessfulResult | undefined {
  return text === "created" || text === "unchanged" || text === "replaced" ? text : undefined;
}
