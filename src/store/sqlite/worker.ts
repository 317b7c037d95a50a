/** Script of a thread with a connection: opens it, and makes the calls of the main thread on it, in their order. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { type Connection, type ConnectionTarget, openConnection } from "./connection.ts";
import { type Call, type Reply, toFailure } from "./messages.ts";

// A tool that loads every file of the package loads this one outside of a thread.
if (parentPort !== null) void serve(parentPort, workerData as ConnectionTarget);

async function serve(port: MessagePort, target: ConnectionTarget): Promise<void> {
  const send = (reply: Reply): void => port.postMessage(reply);
  let connection: Connection;
  try {
    connection = await openConnection(target);
    send({ value: undefined });
  } catch (error) {
    send({ failure: toFailure(error) });
    return;
  }

  port.on("message", ({ method, args }: Call) => {
    try {
      send({ value: Reflect.apply(connection[method], undefined, args) });
    } catch (error) {
      send({ failure: toFailure(error) });
    }
    // Without the port, the thread ends, and with it everything that SQLite still has open.
    if (method === "close") port.close();
  });
}
