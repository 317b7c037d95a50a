/** A connection on a thread of its own, so that a flush of the disk blocks only the callers that wait for it. */
import { Worker } from "node:worker_threads";
import { hasTooManyFiles, StoreError } from "../../core/store.ts";
import { createStoreError, failures, type FailureKind } from "../store-failure.ts";
import type { ConnectionTarget, StoreConnection } from "./connection.ts";
import { workerScript } from "./worker-script.ts";
import type { MethodCall, Reply } from "./worker.ts";

/** Methods of a connection, whose arguments and results can be sent between threads. */
type Methods<Api> = Readonly<Record<keyof Api, (...args: never[]) => unknown>>;

/** A connection on another thread. The thread starts with the first call, and again after it has died. */
export interface ConnectionThread<Api extends Methods<Api> = StoreConnection> {
  isRunning(): boolean;
  /** Resolves once the connection is open; rejects with a StoreError when it cannot be opened. */
  open(): Promise<void>;
  /** Calls a method of the connection. Calls are made in their order; they reject with a StoreError. */
  call<Method extends keyof Api>(
    method: Method,
    ...args: Parameters<Api[Method]>
  ): Promise<ReturnType<Api[Method]>>;
  /** Closes the connection and resolves when the thread has ended. May be called twice. */
  close(): Promise<void>;
}

/**
 * Creates a connection whose thread is not started yet. The thread keeps the process alive only while a call is pending.
 *
 * @param locate is called before each start of the thread; it throws a StoreError if the file is gone
 * @param onOpen is called after each start, once the connection is open
 */
export function createConnectionThread<Api extends Methods<Api> = StoreConnection>(
  path: string,
  locate: () => ConnectionTarget,
  onOpen: () => void = () => undefined,
): ConnectionThread<Api> {
  let running: ReturnType<typeof startThread> | undefined;
  let closed: Promise<void> | undefined;

  function startOnce() {
    if (closed !== undefined) throw createStoreError(failures.closed, path);
    running ??= startThread(locate(), onOpen, () => (running = undefined));
    return running;
  }

  return {
    isRunning: () => running !== undefined,
    async open() {
      await startOnce().opened;
    },
    async call<Method extends keyof Api>(method: Method, ...args: readonly unknown[]) {
      return (await startOnce().ask({ method, args })) as ReturnType<Api[Method]>;
    },
    close: () => (closed ??= running?.close() ?? Promise.resolve()),
  };
}

const died: FailureKind = {
  reason: "failed",
  problem: "crashed during an operation that may or may not have been stored: try again",
};

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

function startThread(target: ConnectionTarget, onOpen: () => void, onEnd: () => void) {
  const worker = new Worker(workerScript, {
    // Replaces the flags of the process: a thread rejects some of them. Node warns that its SQLite is experimental.
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const pending: PendingCall[] = [];
  let failure: unknown;

  function ask(message: ConnectionTarget | MethodCall): Promise<unknown> {
    worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    worker.postMessage(message);
    return new Promise((resolve, reject) => pending.push({ resolve, reject }));
  }

  const opened = ask(target);
  let isOpening = true;
  opened.then(onOpen, () => undefined);
  worker.on("message", ({ value, failure: cause }: Reply) => {
    const call = pending.shift();
    if (pending.length === 0) worker.unref();
    if (cause !== undefined) {
      const error = new StoreError(cause.reason, cause.message, { command: cause.command });
      // The end of the thread may be reported before a handler of `opened` runs.
      if (isOpening) failure = error;
      call?.reject(error);
    } else call?.resolve(value);
    isOpening = false;
  });
  worker.on("error", (error) => {
    // A thread that never opened its connection has done nothing.
    const kind = isOpening && hasTooManyFiles(error) ? failures.noFiles : died;
    failure = createStoreError(kind, target.path, error);
  });
  const ended = new Promise<void>((resolve) => {
    worker.on("exit", () => {
      onEnd();
      failure ??= createStoreError(died, target.path);
      for (const { reject } of pending) reject(failure);
      resolve();
    });
  });

  return {
    opened,
    ask,
    async close() {
      // A connection that cannot be closed ends with its thread.
      await ask({ method: "close", args: [] }).catch(() => undefined);
      worker.ref();
      await ended;
    },
  };
}
