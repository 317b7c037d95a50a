/** Shows requests to a user as they are sent, without the token. */
import { type Post, toReasonPhrase } from "../client/http-request.ts";
import { toEndpoint } from "../core/base-url.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Longest part of a header or body that is shown, in UTF-16 code units. */
const maxShownLine = 10_000;

/** Prints each request and its response on stderr, head and body. */
export function tracePost(post: Post, terminal: Terminal): Post {
  return async (request) => {
    const { method = "POST", url, headers, body } = request;
    const { host, pathname, search } = new URL(toEndpoint(url).httpUrl);
    const [, token = ""] = /^Bearer (.+)$/.exec(headers["authorization"] ?? "") ?? [];
    const print = async (prefix: string, start: string, head: Headers, text: string) => {
      const lines = [start, ...toHeaderLines(head), "", ...(text === "" ? [] : [text])];
      // A server may repeat the token in its response. It is masked before the text is cut, which could split it.
      const shown = lines.map((line) => (token === "" ? line : line.replaceAll(token, "***")));
      for (const line of shown) await terminal.note(`${prefix} ${cut(line)}`.trimEnd());
    };
    const length = String(Buffer.byteLength(body));
    const sent = { host, ...headers, "content-length": length };
    await print(">", `${method} ${pathname}${search} HTTP/1.1`, sent, body);
    const response = await post(request);
    const status = `HTTP/1.1 ${response.status} ${toReasonPhrase(response.status)}`;
    const text = new TextDecoder().decode(response.body);
    await print("<", status, response.headers, text);
    return response;
  };
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

function toHeaderLines(headers: Headers): readonly string[] {
  return Object.entries(headers).flatMap(([name, values = []]) => {
    const title = name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());
    return [values].flat().map((value) => `${title}: ${value}`);
  });
}

function cut(text: string): string {
  return text.length <= maxShownLine ? text : `${text.slice(0, maxShownLine)}… (cut)`;
}
