/** The script of a thread that has a connection: opens it, and does on it what the main thread asks for. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { type Connection, openConnection } from "./connection.ts";
import {
  type Call,
  type ConnectionPlace,
  type PackedRequests,
  type Reply,
  toFailure,
  unpackRequests,
} from "./messages.ts";

// Without a port it was loaded by something else than a thread, which wants nothing done.
if (parentPort !== null) void serve(parentPort, workerData as ConnectionPlace);

async function serve(port: MessagePort, { path, identity }: ConnectionPlace): Promise<void> {
  let service: ReturnType<typeof toService>;
  try {
    service = toService(await openConnection(path, identity));
    send({ value: undefined });
  } catch (error) {
    send({ failure: toFailure(error) });
    return;
  }

  let last = Promise.resolve();
  port.on("message", (call: Call) => {
    last = last.then(() => answer(call));
  });

  async function answer({ method, args }: Call): Promise<void> {
    try {
      send({ value: await (Reflect.apply(service[method], undefined, args) as Promise<unknown>) });
    } catch (error) {
      send({ failure: toFailure(error) });
    }
    // Nothing holds the thread any more, and its end closes what SQLite still has open.
    if (method === "close") port.close();
  }

  function send(reply: Reply): void {
    port.postMessage(reply);
  }
}

function toService(connection: Connection) {
  return {
    ...connection,
    commit: (requests: PackedRequests) => connection.commit(unpackRequests(requests)),
  };
}
