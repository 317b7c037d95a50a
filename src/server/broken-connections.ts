/** Answers what node:http could not read as a request: malformed, too large, or too slow. */
import type { Duplex } from "node:stream";
import { Refusal } from "../core/errors.ts";
import { endGently } from "./drain.ts";
import type { Exchange, OpenExchanges } from "./exchange.ts";
import { headersTooLarge, maxTargetBytes, targetTooLong } from "./headers.ts";
import { toErrorAnswer, toRawAnswer } from "./reply.ts";

/** What node:http adds to an error of the connection or of its parser. */
interface ConnectionError extends Error {
  readonly code?: string;
  /** The bytes that could not be read; the chunk that arrived last. */
  readonly rawPacket?: Buffer;
}

/** A listener for `clientError`: the broken request gets its answer after those before it, then the connection ends. */
export function createBrokenConnectionListener(exchanges: OpenExchanges) {
  // The parser fails again on every further chunk.
  const seen = new WeakSet<Duplex>();
  return (error: ConnectionError, socket: Duplex): void => {
    const refusal = toRefusal(error);
    if (refusal === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    if (seen.has(socket)) return;
    seen.add(socket);

    const open = exchanges.on(socket);
    const last = open.at(-1);
    if (last !== undefined && !last.request.complete) last.break(refusal);
    else answerAfterOthers(open, socket, refusal);
  };
}

/** Sends the last answer on a connection, once the exchanges that are open there have had theirs. */
export function answerAfterOthers(
  open: readonly Exchange[],
  socket: Duplex,
  refusal: Refusal,
): void {
  const last = open.at(-1);
  if (last === undefined) answerAndClose(socket, refusal);
  else last.response.once("close", () => answerAndClose(socket, refusal));
}

/** Sends the last answer, and gives the client a moment to read it. */
function answerAndClose(socket: Duplex, refusal: Refusal): void {
  if (!socket.writable) return;
  socket.on("error", () => socket.destroy());
  socket.write(toRawAnswer(toErrorAnswer(refusal)));
  endGently(socket);
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
  return new Refusal("malformedHttp", `the request is not well-formed HTTP/1.1 (${code})`);
}

/** Only of a packet that begins with the request line: another one says nothing of the target. */
function isTargetTooLong(packet: Buffer | undefined): boolean {
  const [, target = ""] = /^[A-Z-]+ (\S*)/.exec(packet?.toString("latin1") ?? "") ?? [];
  return target.length > maxTargetBytes;
}
