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
  readonly body: string;
  /** Absent: JSON. */
  readonly contentType?: string;
  /** Beside those that every answer has. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The answer to a create whose plant is stored (CONTRACT part 1, rule 3). */
export function toPlantAnswer(plant: Plant, result: Exclude<CreateResult, "conflict">): Answer {
  return { status: 200, result, body: toPlantJson(plant), headers: resultHeaders[result] };
}

const resultHeaders = {
  created: { "X-Plantstore-Result": "created" },
  unchanged: { "X-Plantstore-Result": "unchanged" },
  replaced: { "X-Plantstore-Result": "replaced" },
} as const;
const resultLines: ReadonlyMap<Answer["headers"], string> = new Map(
  Object.values(resultHeaders).map((headers) => [headers, toLines(headers)]),
);

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
  // As a whole it takes a tenth of the time of a refusal, and a text alone half of that.
  const body = `{"error":${refusal.error},"message":${JSON.stringify(refusal.message)}}`;
  return { status, error: refusal.error, body, headers: toErrorHeaders(refusal) };
}

/**
 * Sends an answer past node:http, which knows nothing of the request, on a connection that stays open.
 *
 * @param bytes of its body
 * @param keepAliveSeconds for how long it does
 */
export function writeAnswer(
  { connection, request, requestId }: Exchange,
  answer: Answer,
  bytes: number,
  keepAliveSeconds: number,
): void {
  const { socket } = connection;
  if (!socket.writable) return;
  const body = request.method === "HEAD" ? "" : answer.body;
  const text = `HTTP/1.1 ${toStatusText(answer)}\r\n${toFields(answer, requestId, bytes)}Date: ${toDate()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n\r\n${body}`;
  // What is ASCII is the same in both, and Latin-1 takes less time.
  socket.write(text, bytes === answer.body.length ? "latin1" : "utf8");
}

/**
 * Sends an answer through node:http. While more of the request is on its way, that is drained between the answer and the
 * end of the exchange, `maxDrainBytes` at the most; a longer rest, and one that is not certain to come, costs the
 * connection.
 */
export async function sendAnswer(
  exchange: Exchange,
  answer: Answer,
  { isLast, maxDrainBytes }: { isLast: boolean; maxDrainBytes: number },
): Promise<void> {
  const { connection, head, request, requestId } = exchange;
  if (connection.socket.destroyed) return;
  const response = exchange.requireResponse();
  if (response.destroyed) return;
  if (connection.isEnding) leaveGently(request.socket);
  const fields = toFields(answer, requestId);
  if (!exchange.isBodyComing || exchange.isBroken) {
    const isOver = isLast || exchange.isBroken;
    response.writeHead(answer.status, toList(fields, isOver)).end(answer.body);
    return;
  }
  const length = head.contentLength ?? Number.POSITIVE_INFINITY;
  const isRestBounded = length <= maxDrainBytes && !exchange.isContinueAwaited;
  response.writeHead(answer.status, toList(fields, isLast || !isRestBounded));
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
  const fields = `${toFields(answer, requestId)}Date: ${toDate()}\r\n${closing}`;
  socket.on("error", () => socket.destroy());
  socket.write(`HTTP/1.1 ${toStatusText(answer)}\r\n${fields}\r\n${answer.body}`);
  endGently(socket);
}

function toStatusText({ status }: Answer): string {
  return status === 200 ? "200 OK" : `${status} ${STATUS_CODES[status] ?? ""}`;
}

let lastSecond = 0;
let lastDate = "";

/** Now, as headers have it (RFC 9110 section 5.6.7); many answers are written in the same second. */
function toDate(): string {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastDate = new Date(nowMs).toUTCString();
  }
  return lastDate;
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

/**
 * The fields of an answer's head, a line for each. All of them are our own words, or were checked: nobody looks for line
 * breaks in them.
 */
function toFields(
  answer: Answer,
  requestId: string,
  bytes = Buffer.byteLength(answer.body),
): string {
  const { status, contentType = "application/json", headers } = answer;
  const own = resultLines.get(headers) ?? toLines(headers);
  // A template in one piece, because to put together many takes longer than the rest.
  const fields = `Content-Type: ${contentType}\r\nContent-Length: ${bytes}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ${requestId}\r\n${own}`;
  // 204 has no content, not even an empty one (RFC 9110 section 8.6).
  return status === 204 ? fields.slice(fields.indexOf("Cache-Control")) : fields;
}

function toLines(headers: Answer["headers"]): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
}

const closing = "Connection: close\r\n";

/** Names and values by turns, as node:http takes them. */
function toList(fields: string, isLast: boolean): string[] {
  const lines = (isLast ? fields + closing : fields).trimEnd().split("\r\n");
  return lines.flatMap((line) => {
    const end = line.indexOf(": ");
    return [line.slice(0, end), line.slice(end + 2)];
  });
}
