/** A proxy to PostgreSQL that loses connections at a chosen moment. */
import { connect } from "node:net";
import { openRawServer } from "../../client/scripted-server.ts";

/** Fate of a message to the server and of its connection. */
export type Fate =
  /** The message is forwarded. */
  | "pass"
  /** The message and the connection are lost. */
  | "lose"
  /** The message is forwarded; its response and the connection are lost. */
  | "lose response"
  /** The connection stays open and forwards nothing from now on. */
  | "freeze";

/**
 * Opens a proxy for one test.
 *
 * @param decide returns the fate of a piece of a connection on its way to the server
 */
export async function openLossyProxy(serverUrl: string, decide: (message: string) => Fate) {
  const { hostname, port: serverPort } = new URL(serverUrl);
  let losses = 0;
  const proxyUrl = await openRawServer((client) => {
    const server = connect(Number(serverPort), hostname);
    let isFrozen = false;
    let isResponseLost = false;
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on("error", () => to.destroy());
      from.on("end", () => isFrozen || to.destroy());
      from.on("close", () => to.destroy());
    }
    client.on("data", (piece) => {
      const fate = isFrozen ? "pass" : decide(piece.toString("latin1"));
      if (fate !== "pass") losses++;
      if (fate === "freeze") isFrozen = true;
      if (fate === "lose response") isResponseLost = true;
      if (fate === "lose") client.destroy();
      else if (!isFrozen) server.write(piece);
    });
    server.on("data", (piece) => {
      if (isResponseLost) client.destroy();
      else if (!isFrozen) client.write(piece);
    });
  });
  const url = new URL(serverUrl);
  url.port = new URL(proxyUrl).port;
  return {
    /** The URL of the server through the proxy. */
    url: url.href,
    /** Number of messages with another fate than `pass`. */
    get losses() {
      return losses;
    },
  };
}
