/** A connection on a thread of its own, so that a flush of the disk holds up nobody but those who wait for it. */
import { Worker } from "node:worker_threads";
import type { Connection } from "./connection.ts";
import { createStoreError, type Meaning } from "./failure.ts";
import type { DatabaseFile } from "./file-in-use.ts";
import {
  type Call,
  type ConnectionPlace,
  fromFailure,
  type Method,
  packRequests,
  type Reply,
} from "./messages.ts";
import { workerScript } from "./worker-script.ts";

/** A connection that is on another thread, which starts when it is needed, and again when it has died. */
export interface ConnectionThread extends Connection {
  /** Resolves once the connection is open; rejects with a StoreError when it can't be. */
  open(): Promise<void>;
}

/**
 * A connection for a database; its thread is not started yet. What is asked of it is done in that order. The thread keeps
 * the process alive only while something is asked of it.
 */
export function createConnectionThread(file: DatabaseFile): ConnectionThread {
  const { path } = file;
  let running: RunningThread | undefined;
  let closed: Promise<void> | undefined;

  function run(): RunningThread {
    if (closed !== undefined) throw createStoreError(isClosed, path);
    if (running !== undefined) return running;
    running = startThread({ path, identity: file.prepare() }, () => (running = undefined));
    return running;
  }

  async function call<T>(method: Method, ...args: readonly unknown[]): Promise<T> {
    return (await run().ask({ method, args })) as T;
  }

  return {
    async open() {
      await run().opened;
    },
    commit: async (requests) => call("commit", packRequests(requests)),
    get: (id) => call("get", id),
    list: (query) => call("list", query),
    checkWritable: () => call("checkWritable"),
    addToken: (token) => call("addToken", token),
    listTokens: () => call("listTokens"),
    revokeToken: (digest, revokedAtMs) => call("revokeToken", digest, revokedAtMs),
    noteTokenUses: (digests, day) => call("noteTokenUses", digests, day),
    checkpoint: () => call("checkpoint"),
    restartLog: () => call("restartLog"),
    close: () => (closed ??= running?.close() ?? Promise.resolve()),
  };
}

const isClosed: Meaning = { reason: "closed", complaint: "is closed" };

/** One life of a thread. */
interface RunningThread {
  readonly opened: Promise<unknown>;
  ask(call: Call): Promise<unknown>;
  /** Resolves when the thread has ended. */
  close(): Promise<void>;
}

interface AwaitedReply {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const died: Meaning = {
  reason: "failed",
  complaint: "lost its thread, and whether that stored what it was at is unknown: try again",
};

function startThread(place: ConnectionPlace, onEnd: () => void): RunningThread {
  const { path } = place;
  // Of its own: those of the process may be such as no thread can have.
  const execArgv: string[] = [];
  const worker = new Worker(workerScript, { workerData: place, execArgv });
  const awaited: AwaitedReply[] = [];
  let failure: unknown;

  function awaitReply(): Promise<unknown> {
    worker.ref();
    return new Promise((resolve, reject) => awaited.push({ resolve, reject }));
  }

  const opened = awaitReply();
  opened.catch((error: unknown) => (failure = error));
  worker.on("message", (reply: Reply) => {
    const asked = awaited.shift();
    if (awaited.length === 0) worker.unref();
    if ("failure" in reply) asked?.reject(fromFailure(reply.failure));
    else asked?.resolve(reply.value);
  });
  worker.on("error", (error) => (failure = createStoreError(died, path, error)));
  const ended = new Promise<void>((resolve) => {
    worker.on("exit", () => {
      onEnd();
      failure ??= createStoreError(died, path);
      for (const { reject } of awaited) reject(failure);
      resolve();
    });
  });

  function ask(call: Call): Promise<unknown> {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    worker.postMessage(call);
    return awaitReply();
  }

  return {
    opened,
    ask,
    async close() {
      // Should it fail: with the thread the connection ends as well.
      await ask({ method: "close", args: [] }).catch(() => undefined);
      worker.ref();
      await ended;
    },
  };
}
