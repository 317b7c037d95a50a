/** One connection to the server: sends exact bytes and reads what comes back, within bounds. */
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { toEndpoint } from "../../src/core/base-url.ts";
import { fill, fillRequest, type Placeholders } from "../../src/core/request-template.ts";
import { readResponses, type Response } from "./response.ts";
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
  target: Target,
  exchange: Exchange,
  values: Placeholders,
): Promise<Conversation> {
  const expected = [exchange.receive].flat();
  const finals = expected.filter(({ status }) => status !== 100);
  const isBodiless = (index: number): boolean => finals[index]?.isBodiless === true;
  const connection = openConnection(target, isBodiless, expected.length);
  try {
    await connection.isOpen();
    for (const step of joinSteps([exchange.send].flat(), values)) await connection.perform(step);
    if (exchange.thenEnds) await connection.ended(target.timeoutMs);
    else {
      await connection.received(expected.length);
      connection.end();
      await connection.ended(settleMs);
    }
    return connection.toConversation();
  } finally {
    connection.destroy();
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

function toBytes(step: Step, values: Placeholders): Buffer | undefined {
  if (typeof step === "string") return Buffer.from(fill(step, values));
  if (!("method" in step)) return undefined;
  const { method, target, headers, body } = fillRequest(step, values);
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

interface Connection {
  /** Resolves once the connection is open or has failed. */
  isOpen(): Promise<void>;
  perform(step: Buffer | Exclude<Step, string>): Promise<void>;
  /** Resolves once that number of responses has arrived, or no more can arrive. */
  received(count: number): Promise<void>;
  /** Resolves once the server has ended the connection, or after a time. */
  ended(withinMs: number): Promise<void>;
  end(): void;
  destroy(): void;
  toConversation(): Conversation;
}

function openConnection(
  { url, ca, timeoutMs, signal }: Target,
  isBodiless: (index: number) => boolean,
  expectedCount: number,
): Connection {
  const socket = openSocket(url, ca);
  const state = {
    sent: [] as Buffer[],
    received: Buffer.alloc(0),
    isOpen: false,
    isEnded: false,
    hasTimedOut: false,
    problem: undefined as string | undefined,
    failure: undefined as Error | undefined,
  };
  /** One response more than expected is an error already. */
  const read = () => readResponses(state.received, isBodiless, state.isEnded, expectedCount + 1);
  let wake = (): void => {};
  const change = (): void => wake();
  const stop = (): void => {
    socket.destroy();
    change();
  };
  const timer = setTimeout(() => {
    state.hasTimedOut = true;
    stop();
  }, timeoutMs);
  signal.addEventListener("abort", stop);
  socket.setNoDelay(true);
  socket.once(url.startsWith("https:") ? "secureConnect" : "connect", () => {
    state.isOpen = true;
    change();
  });
  socket.on("data", (bytes: Buffer) => {
    if (state.problem !== undefined) return;
    state.received = Buffer.concat([state.received, bytes]);
    if (state.received.length > maxReceivedBytes) {
      state.problem = `the server sent more than ${maxReceivedBytes} bytes`;
    }
    // An endless stream of responses ends here.
    if (state.problem !== undefined || read().responses.length > expectedCount) socket.destroy();
    change();
  });
  socket.on("error", (error) => (state.failure = error));
  const onEnd = (): void => {
    state.isEnded ||= !state.hasTimedOut && !signal.aborted;
    change();
  };
  socket.once("end", onEnd).once("close", onEnd);

  const isOver = (): boolean => state.isEnded || state.hasTimedOut || signal.aborted;

  /** Waits for changes until a condition holds or the connection is over. */
  async function until(isMet: () => boolean): Promise<void> {
    while (!isMet() && !isOver() && state.problem === undefined) {
      await new Promise<void>((resolve) => (wake = resolve));
    }
    signal.throwIfAborted();
  }

  async function wait(timeMs: number, isMet: () => boolean): Promise<void> {
    let isTimeOver = false;
    const waiting = setTimeout(() => {
      isTimeOver = true;
      change();
    }, timeMs);
    await until(() => isTimeOver || isMet());
    clearTimeout(waiting);
  }

  const received = (count: number): Promise<void> =>
    until(() => {
      const { responses, problem } = read();
      return responses.length >= count || problem !== undefined;
    });

  return {
    isOpen: () => until(() => state.isOpen),
    async perform(step) {
      if (Buffer.isBuffer(step)) {
        state.sent.push(step);
        if (socket.writable) socket.write(step);
      } else if ("responses" in step) await received(step.responses);
      else if (step === pause) await wait(pauseMs, () => false);
      else if (step === halfClose) socket.end();
    },
    received,
    ended: (withinMs) => wait(withinMs, () => false),
    end: () => void socket.end(),
    destroy() {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      socket.destroy();
    },
    toConversation() {
      const { isOpen, problem, ...others } = state;
      const { responses, hasRest, problem: malformed } = read();
      return {
        ...others,
        sent: Buffer.concat(state.sent),
        responses,
        hasRest,
        problem: problem ?? malformed,
        isUnreachable: !isOpen,
      };
    },
  };
}

function openSocket(url: string, ca: string | undefined): Socket {
  const { httpUrl, socketPath } = toEndpoint(url);
  if (socketPath !== undefined) return connect({ path: socketPath, allowHalfOpen: true });
  const { protocol, hostname, port } = new URL(httpUrl);
  const isTls = protocol === "https:";
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const address = { host, port: Number(port || (isTls ? 443 : 80)), allowHalfOpen: true };
  if (!isTls) return connect(address);
  const servername = isIP(host) === 0 ? host : "";
  return connectTls({ ...address, ca, servername, ALPNProtocols: ["http/1.1"] });
}
