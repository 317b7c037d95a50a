/** GET requests for paths that are not in the interface description, with any Host header. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

/** Sends a GET request to a server on this machine, on a new connection. */
export async function getText(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const sent = request({ host: "127.0.0.1", port, path, headers, agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const contentType = response.headers["content-type"];
  return { status: response.statusCode, contentType, text: await text(response) };
}
