/** Carries out exchanges through the `fetch` of a server, without a socket. */
import { fillStep, type Conversation } from "./conversation.ts";
import type { Placeholders } from "./request-template.ts";
import type { ServerFetch } from "../../src/server/http/fetch-transport.ts";
import type { Response } from "./response.ts";
import type { Exchange, Rule } from "./rule.ts";

/** Checks whether a rule is not about connections: it sends only requests that the Fetch standard can express. */
export function isFetchable({ exchanges }: Rule): boolean {
  return exchanges.every(
    ({ send, receive, thenEnds }) =>
      thenEnds === undefined &&
      [send]
        .flat()
        .every((step) => typeof step === "object" && ("method" in step || "request" in step)) &&
      [receive].flat().every(({ error }) => error !== "malformedHttp"),
  );
}

/** Sends the requests of an exchange one after the other. */
export async function converseByFetch(
  fetch: ServerFetch,
  { send }: Exchange,
  values: Placeholders,
): Promise<Conversation> {
  const responses: Response[] = [];
  for (const step of [send].flat()) {
    const request = fillStep(step, values);
    if (request === undefined) throw new TypeError("the rule is about connections");
    const { method, target, headers, body } = request;
    const hasBody = method !== "GET" && method !== "HEAD";
    const response = await fetch(`http://${values.host}${target}`, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      ...(hasBody && { body }),
    });
    const bodyBytes = new Uint8Array(await response.arrayBuffer());
    responses.push({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: new TextDecoder().decode(bodyBytes),
      bodyBytes,
    });
  }
  return {
    responses,
    sent: Buffer.alloc(0),
    received: Buffer.alloc(0),
    hasRest: false,
    isEnded: false,
    hasTimedOut: false,
    isUnreachable: false,
  };
}
