/** Answers, and their only writer: every byte that the server sends is made here. */
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { CredentialRefusal } from "../../auth/credential.ts";
import type { ErrorKind, Refusal } from "../../core/errors.ts";
import { type Plant, toPlantJson } from "../../core/plant.ts";
import type { CreateResult } from "../../core/store.ts";
import { drainRequest, endGently, leaveGently } from "./drain.ts";
import type { Exchange } from "./exchange.ts";
import { MethodRefusal } from "./routes.ts";

/** What a request is answered with. */
export interface Answer {
  readonly status: number;
  /** The number of an Error. */
  readonly error?: number;
  /** What became of a plant. */
  readonly result?: string;
  /** JSON, unless the headers name another content type. */
  readonly body: string;
  /** Beside those that every answer has. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The answer to a create whose plant is stored (CONTRACT part 1, rule 3). */
export function toPlantAnswer(plant: Plant, result: Exclude<CreateResult, "conflict">): Answer {
  const headers = { "X-Plantstore-Result": result };
  return { status: 200, result, body: toPlantJson(plant), headers };
}

/** The answer to those who run the server and find all well. */
export function toStatusAnswer(status: "ok" | "ready"): Answer {
  return { status: 200, body: JSON.stringify({ status }), headers: {} };
}

/** The answer to the question what a path can be asked. */
export function toOptionsAnswer(methods: readonly string[]): Answer {
  return { status: 204, body: "", headers: { Allow: methods.join(", ") } };
}

/**
 * The answer to a request that was refused.
 *
 * @param status for what is not the create operation; that has 400 for any failure (CONTRACT part 1, rule 2)
 */
export function toErrorAnswer(refusal: Refusal, status = statuses[refusal.kind] ?? 400): Answer {
  const body = JSON.stringify({ error: refusal.error, message: refusal.message });
  return { status, error: refusal.error, body, headers: toErrorHeaders(refusal) };
}

/**
 * Sends an answer. While more of the request is on its way, that is drained between the answer and the end of the
 * exchange, `maxDrainBytes` at the most; a longer rest, and one that is not certain to come, costs the connection.
 */
export async function sendAnswer(
  exchange: Exchange,
  answer: Answer,
  { isLast, maxDrainBytes }: { isLast: boolean; maxDrainBytes: number },
): Promise<void> {
  const { request, response, requestId } = exchange;
  if (response.destroyed) return;
  if (exchange.connection.isEnding) leaveGently(request.socket);
  if (!exchange.isBodyComing || exchange.isBroken) {
    const headers = toHeaders(answer, requestId, isLast || exchange.isBroken);
    response.writeHead(answer.status, headers).end(answer.body);
    return;
  }
  const length = Number(request.headers["content-length"] ?? Number.POSITIVE_INFINITY);
  const isRestBounded = length <= maxDrainBytes && !exchange.isContinueAwaited;
  response.writeHead(answer.status, toHeaders(answer, requestId, isLast || !isRestBounded));
  response.write(answer.body);
  // An answer without a body, as to HEAD, has only its head to send.
  response.flushHeaders();
  const end = await drainRequest(exchange, maxDrainBytes);
  if (end === "over limit") {
    endGently(request.socket);
    return;
  }
  response.end();
  if (end === "broken") request.socket.destroySoon();
}

/** Sends the last answer on a connection on which no request could be understood, and gives the client a moment to read it. */
export function sendLastAnswer(socket: Duplex, answer: Answer, requestId: string): void {
  socket.on("error", () => socket.destroy());
  socket.write(toRawAnswer(answer, requestId));
  endGently(socket);
}

function toRawAnswer(answer: Answer, requestId: string): string {
  const headers = Object.entries(toHeaders(answer, requestId, true)).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const statusLine = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}`;
  return [statusLine, ...headers, "", answer.body].join("\r\n");
}

const statuses: Partial<Record<ErrorKind, number>> = { noSuchPath: 404, noSuchMethod: 405 };

/** Seconds. A server that stops is soon started again, and an overload is short. */
const retryAfter = "1";

function toErrorHeaders(refusal: Refusal): Record<string, string> {
  if (refusal instanceof CredentialRefusal) return { "WWW-Authenticate": refusal.challenge };
  if (refusal instanceof MethodRefusal) return { Allow: refusal.allow };
  const isPassing = refusal.kind === "shuttingDown" || refusal.kind === "overloaded";
  return isPassing ? { "Retry-After": retryAfter } : {};
}

function toHeaders(
  { status, body, headers }: Answer,
  requestId: string,
  isLast: boolean,
): Record<string, string> {
  const all: Record<string, string> = {
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": requestId,
    ...headers,
    ...(isLast ? { Connection: "close" } : {}),
  };
  if (status !== 204) return all;
  // It has no content, not even an empty one (RFC 9110 section 8.6).
  delete all["Content-Type"];
  delete all["Content-Length"];
  return all;
}
