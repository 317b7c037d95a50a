/** The checks of a request's head that node:http leaves to us (RFC 9112 section 3.2, CONTRACT "HTTP"). */
import type { IncomingMessage } from "node:http";
import { Refusal } from "../core/errors.ts";

/** The longest request target, in bytes. */
export const maxTargetBytes = 8 * 1024;
/** The most that the names and values of all headers may add up to, in bytes. */
export const maxHeaderBytes = 16 * 1024;

/** Fields that matter once more than one of them is there, when node:http would show only the first. */
export interface RequestHead {
  readonly authorizations: readonly string[];
  readonly contentTypes: readonly string[];
}

const host = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/**
 * Reads the head of a request in one pass.
 *
 * @throws Refusal `targetTooLong`, `headersTooLarge`, `malformedHttp` for its version and its Host
 */
export function readHead(request: IncomingMessage): RequestHead {
  if ((request.url ?? "").length > maxTargetBytes) throw targetTooLong();
  const authorizations: string[] = [];
  const contentTypes: string[] = [];
  const hosts: string[] = [];
  let bytes = 0;
  const { rawHeaders } = request;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    const value = rawHeaders[index + 1] ?? "";
    bytes += name.length + value.length;
    switch (name.toLowerCase()) {
      case "host":
        hosts.push(value);
        break;
      case "content-type":
        contentTypes.push(value);
        break;
      case "authorization":
        authorizations.push(value);
        break;
      default:
    }
  }
  if (bytes > maxHeaderBytes) throw headersTooLarge();
  checkVersion(request.httpVersion);
  checkHost(hosts, request.httpVersion);
  return { authorizations, contentTypes };
}

/** The request target was longer than {@link maxTargetBytes}. */
export function targetTooLong(): Refusal {
  return new Refusal(
    "targetTooLong",
    `the request target is over ${maxTargetBytes} bytes: shorten it`,
  );
}

/** The headers added up to more than {@link maxHeaderBytes}. */
export function headersTooLarge(): Refusal {
  return new Refusal("headersTooLarge", `the headers are over ${maxHeaderBytes} bytes: send fewer`);
}

function checkVersion(httpVersion: string): void {
  if (httpVersion === "1.1" || httpVersion === "1.0") return;
  throw new Refusal("malformedHttp", "the version of HTTP is not supported: send HTTP/1.1");
}

function checkHost(hosts: readonly string[], httpVersion: string): void {
  const [value, ...others] = hosts;
  if (value === undefined) {
    if (httpVersion === "1.0") return;
    throw new Refusal("malformedHttp", "the Host header is missing: HTTP/1.1 needs exactly one");
  }
  if (others.length > 0) {
    throw new Refusal("malformedHttp", `${hosts.length} Host headers: send exactly one`);
  }
  if (!host.test(value)) {
    throw new Refusal("malformedHttp", "the Host header is not a host with an optional port");
  }
}
