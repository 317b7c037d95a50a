/** Answers what node:http could not read as a request: malformed, too large, or too slow. */
import type { Duplex } from "node:stream";
import { Refusal } from "../../core/errors.ts";
import type { AnswerAndClose, Connections } from "./connections.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { stoppedCode } from "./request-parser.ts";
import { headersTooLarge, maxTargetBytes, targetTooLong } from "../exchange/headers.ts";

/** What node:http adds to an error of the connection or of its parser. */
interface ConnectionError extends Error {
  readonly code?: string;
  /** What the parser says of it, in words of its own that hold nothing of the request. */
  readonly reason?: string;
  /** The bytes that could not be read; the chunk that arrived last. */
  readonly rawPacket?: Buffer;
}

/** A listener for `clientError`: the broken request gets its answer after those before it, then the connection ends. */
export function createBrokenConnectionListener(
  connections: Connections,
  answerAndClose: AnswerAndClose,
) {
  // The parser fails again on every further chunk.
  const seen = new WeakSet<Duplex>();
  return (error: ConnectionError, socket: Duplex): void => {
    if (error.code === stoppedCode) return;
    const refusal = toRefusal(error);
    if (refusal === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    if (seen.has(socket)) return;
    seen.add(socket);

    const connection = connections.of(socket);
    connection?.release();
    const open = connection?.exchanges ?? [];
    const last = open.at(-1);
    if (last !== undefined && !last.request.complete) last.break(refusal);
    else answerAfterOthers(open, () => answerAndClose(socket, refusal));
  };
}

/** Gives an answer once the exchanges that are open have had theirs. */
export function answerAfterOthers(open: readonly Exchange[], give: () => void): void {
  const last = open.at(-1);
  if (last === undefined) give();
  else last.requireResponse().once("close", give);
}

/** @returns undefined when nobody is left who could be answered */
function toRefusal(error: ConnectionError): Refusal | undefined {
  const { code = "" } = error;
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Refusal("requestTimeout", "the request took too long to arrive: try again");
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return isTargetTooLong(error.rawPacket) ? targetTooLong() : headersTooLarge();
  }
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") {
    return new Refusal("malformedHttp", "the chunk extensions are too large: leave them out");
  }
  if (!code.startsWith("HPE_")) return undefined;
  const reason = code === "HPE_PAUSED_H2_UPGRADE" ? "it is HTTP/2" : (error.reason ?? code);
  return new Refusal("malformedHttp", `the request is not well-formed HTTP/1.1 (${reason})`);
}

/** Only of a packet that begins with the request line: another one says nothing of the target. */
function isTargetTooLong(packet: Buffer | undefined): boolean {
  const [, target = ""] = /^[A-Z-]+ (\S*)/.exec(packet?.toString("latin1") ?? "") ?? [];
  return target.length > maxTargetBytes;
}
