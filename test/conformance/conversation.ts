/** Carries out an exchange on a connection of its own, within bounds. */
import { setTimeout as sleep } from "node:timers/promises";
import { fill, type FilledRequest, fillRequest, type Placeholders } from "./request-template.ts";
import { openConnection } from "./connection.ts";
import type { Response } from "./response.ts";
import { type Exchange, halfClose, pause, type Step } from "./rule.ts";

/** The server that is tested. */
export interface Target {
  /** URL with the base path, without a trailing slash. */
  readonly url: string;
  /** Certificates of trusted authorities, in PEM. Default: those of Node. */
  readonly ca?: string | undefined;
  readonly token: string;
  /** Limit for each exchange, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends all connections. */
  readonly signal: AbortSignal;
}

/** The bytes on a connection, and how it ended. */
export interface Conversation {
  readonly sent: Buffer;
  readonly received: Buffer;
  readonly responses: readonly Response[];
  /** True if bytes follow the last complete response. */
  readonly hasRest: boolean;
  /** True if the server ended the connection. */
  readonly isEnded: boolean;
  readonly hasTimedOut: boolean;
  /** The part of the response that no client can read. */
  readonly problem?: string | undefined;
  /** Error of the connection. */
  readonly failure?: Error | undefined;
  /** True if the connection was never open. */
  readonly isUnreachable: boolean;
}

/** Pieces with this time between them usually arrive separately. */
const pauseMs = 25;
/** Time in which a server may still send bytes that belong to no request. */
const settleMs = 300;
/** Responses repeat a body of at most 1 MiB. */
const maxReceivedBytes = 4 * 1024 ** 2;

/** Connects, carries out the steps, and reads until the expected responses have arrived and the connection ends. */
export async function converse(
  { url, ca, timeoutMs, signal }: Target,
  exchange: Exchange,
  values: Placeholders,
): Promise<Conversation> {
  const expected = [exchange.receive].flat();
  const finals = expected.filter(({ status }) => status !== 100);
  const isBodiless = (index: number): boolean => finals[index]?.isBodiless === true;
  const connection = openConnection({ url, ca, isBodiless });
  const { socket } = connection;
  const sent: Buffer[] = [];
  let receivedBytes = 0;
  let hasTimedOut = false;
  const stop = (): void => void socket.destroy();
  const timer = setTimeout(() => {
    hasTimedOut = true;
    stop();
  }, timeoutMs);
  signal.addEventListener("abort", stop);
  socket.on("data", ({ length }: Buffer) => {
    receivedBytes += length;
    // An endless stream of responses ends here. One more than expected is an error already.
    const isTooLong = receivedBytes > maxReceivedBytes;
    if (isTooLong || connection.read().responses.length > expected.length) stop();
  });

  async function received(count: number): Promise<void> {
    const isComplete = (): boolean => {
      const { responses, problem } = connection.read();
      return responses.length >= count || problem !== undefined;
    };
    while (!isComplete() && connection.isOpen()) await connection.changed();
  }

  async function endedWithin(timeMs: number): Promise<void> {
    const isEnded = new AbortController();
    const ended = connection.ended().then(() => isEnded.abort());
    const waited = sleep(timeMs, undefined, { signal: isEnded.signal }).catch(() => {});
    await Promise.race([ended, waited]);
  }

  async function perform(step: Buffer | Exclude<Step, string>): Promise<void> {
    if (Buffer.isBuffer(step)) {
      sent.push(step);
      if (socket.writable) socket.write(step);
    } else if ("responses" in step) await received(step.responses);
    else if (step === pause) await endedWithin(pauseMs);
    else if (step === halfClose) socket.end();
  }

  try {
    await connection.opened();
    for (const step of joinSteps([exchange.send].flat(), values)) {
      signal.throwIfAborted();
      await perform(step);
    }
    if (!exchange.thenEnds) {
      await received(expected.length);
      socket.end();
    }
    await endedWithin(exchange.thenEnds ? timeoutMs : settleMs);
    signal.throwIfAborted();
    const { problem, ...read } = connection.read();
    const isTooLong = receivedBytes > maxReceivedBytes;
    return {
      ...read,
      sent: Buffer.concat(sent),
      received: connection.bytes(),
      isEnded: !connection.isOpen() && !hasTimedOut,
      hasTimedOut,
      problem: isTooLong ? `the server sent more than ${maxReceivedBytes} bytes` : problem,
      failure: connection.failure(),
      isUnreachable: !connection.isConnected(),
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** Joins adjacent texts and requests, so that they are sent together. */
function joinSteps(
  steps: readonly Step[],
  values: Placeholders,
): readonly (Buffer | Exclude<Step, string>)[] {
  const joined: (Buffer | Exclude<Step, string>)[] = [];
  for (const step of steps) {
    const bytes = toBytes(step, values);
    const last = joined.at(-1);
    if (bytes === undefined) joined.push(step as Exclude<Step, string>);
    else if (Buffer.isBuffer(last)) joined.splice(-1, 1, Buffer.concat([last, bytes]));
    else joined.push(bytes);
  }
  return joined;
}

/** Returns the request of a step; undefined for any other step. */
export function fillStep(step: Step, values: Placeholders): FilledRequest | undefined {
  if (typeof step === "string") return undefined;
  if ("method" in step) return fillRequest(step, values);
  if (!("request" in step)) return undefined;
  return fillRequest(step.request, { ...values, token: step.toToken(values.token) });
}

function toBytes(step: Step, values: Placeholders): Buffer | undefined {
  if (typeof step === "string") return Buffer.from(fill(step, values));
  const request = fillStep(step, values);
  if (request === undefined) return undefined;
  const { method, target, headers, body } = request;
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
