/** GET requests for paths that are not in the interface description. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

/** A response. */
export interface TextResponse {
  readonly status: number | undefined;
  readonly contentType: string | undefined;
  readonly text: string;
}

/** Sends a GET request to a server on this machine, on a new connection. */
export async function getText(port: number, path: string): Promise<TextResponse> {
  const sent = request({ host: "127.0.0.1", port, path, agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const { statusCode: status, headers } = response;
  return { status, contentType: headers["content-type"], text: await text(response) };
}
