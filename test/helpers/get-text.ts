/** A GET of what the interface description does not describe. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

/** What came back. */
export interface TextAnswer {
  readonly status: number | undefined;
  readonly contentType: string | undefined;
  readonly text: string;
}

/** Asks a server on this machine, on a connection of its own. */
export async function getText(port: number, path: string): Promise<TextAnswer> {
  const sent = request({ host: "127.0.0.1", port, path, agent: false }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const { statusCode: status, headers } = answer;
  return { status, contentType: headers["content-type"], text: await text(answer) };
}
