/** Script of a thread with a connection: opens it, makes the calls of the main thread on it, in their order, and maps errors. */
import { type MessagePort, parentPort } from "node:worker_threads";
import type { StoreError } from "../../core/store.ts";
import { type ConnectionTarget, openConnection } from "./connection.ts";
import { retryWhileBusy } from "./database.ts";
import { toStoreError } from "./driver.ts";

/** Calls a method of the connection. Replies arrive in the order of the calls. */
export interface MethodCall {
  readonly method: PropertyKey;
  readonly args: readonly unknown[];
}

/** Result of a call. The first one of a thread is that of opening its connection. */
export interface Reply {
  readonly value?: unknown;
  /** A StoreError as plain data, because errors lose their class between threads. Its message includes that of its cause. */
  readonly failure?: Pick<StoreError, "reason" | "message" | "command">;
}

// A tool that loads every file of the package loads this one outside of a thread.
if (parentPort !== null) serve(parentPort);

async function openTarget(target: ConnectionTarget): Promise<object> {
  switch (target.access) {
    case "whole":
      return (await import("./backup-worker.ts")).openWholeFile(target);
    case "replaced":
      return (await import("./backup-worker.ts")).openReplacedFile(target);
    default:
      return openConnection(target);
  }
}

function serve(port: MessagePort): void {
  let path = "";
  let opening: Promise<object | undefined> | undefined;
  const send = (reply: Reply): void => port.postMessage(reply);
  const sendFailure = (error: unknown): void => {
    const { reason, message, command } = toStoreError(error, path);
    send({ failure: { reason, message, command } });
  };

  /** @returns undefined if the connection cannot be opened: the thread ends */
  async function tryOpen(target: ConnectionTarget): Promise<object | undefined> {
    ({ path } = target);
    try {
      const connection = await openTarget(target);
      send({});
      return connection;
    } catch (error) {
      sendFailure(error);
      port.close();
      return undefined;
    }
  }

  function call(connection: object, { method, args }: MethodCall): void {
    try {
      const called = Reflect.get(connection, method) as (...args: readonly unknown[]) => unknown;
      send({ value: retryWhileBusy(() => Reflect.apply(called, undefined, args)) });
    } catch (error) {
      sendFailure(error);
    }
    // Without the port, the thread ends, and with it everything that SQLite still has open.
    if (method === "close") port.close();
  }

  port.on("message", (message: ConnectionTarget | MethodCall) => {
    if ("access" in message) opening = tryOpen(message);
    else void opening?.then((connection) => connection && call(connection, message));
  });
}
