/** What `serve` says once it takes requests. */
import { toShellWord } from "../../core/shell-word.ts";
import type { Log } from "../../server/log.ts";
import { describeStoreUrl } from "../../store/store-url.ts";
import type { FirstToken } from "../tokens/first-token.ts";
import type { Io } from "../io.ts";
import { isLoopback } from "../loopback.ts";
import { createReporter } from "../output/reporter.ts";
import type { ServeOptions } from "./options.ts";
import { resolveUrl } from "../settings/client-settings.ts";

/** What there is to say something of. */
interface Started {
  readonly options: ServeOptions;
  readonly url: string;
  readonly token: FirstToken;
}

/** Says it: to a person as it is, in a log as lines like the others. */
export async function greet(started: Started, log: Log, io: Io): Promise<void> {
  const { options, url } = started;
  const reporter = createReporter(io, undefined);
  const isJson = options.logFormat === "json";
  const warning = findRisk(options);
  if (warning !== undefined) {
    if (isJson) log.message("warn", warning);
    else await reporter.warning(warning);
  }
  const lines = toLines(started, io, !isJson);
  if (isJson) lines.push(`Listening on ${url}`);
  for (const line of lines) {
    if (isJson) log.message("info", line);
    else await reporter.note(line);
  }
}

/** Whether `create` comes here when it is not told where to go. */
function isUsualUrl(url: string, io: Io): boolean {
  try {
    return resolveUrl(undefined, io).baseUrl === url;
  } catch {
    return false; // What is wrong there is of no concern here.
  }
}

function findRisk({ host, socketPath, tls }: ServeOptions): string | undefined {
  if (socketPath !== undefined || tls !== undefined) return undefined;
  if (isLoopback(host.includes(":") ? `[${host}]` : host)) return undefined;
  return `tokens arrive at ${host} unencrypted: give --tls-cert and --tls-key where others listen`;
}

/** The token itself only where a person reads it: a log would keep it. */
function toLines({ options, url, token }: Started, io: Io, isText: boolean): string[] {
  const isForPerson = isText && io.stderr.isTTY === true;
  const place = describeStoreUrl(options.storeUrl).replace(/^memory:$/, "memory, until it stops");
  const lines = [`Plants are kept in ${place}`];
  if (token.kind === "issued") {
    lines.push("A token was issued, and saved for this user");
    if (isForPerson) lines.push(`Shown only this once: ${token.token}`);
  }
  if (token.kind === "none" && options.environmentToken === undefined) {
    lines.push(
      "No token of this store is saved for this user: `plantstore token issue` makes one, `plantstore login` saves it",
    );
  }
  if (!isForPerson) return lines;
  if (options.socketPath === undefined) {
    const option = isUsualUrl(url, io) ? "" : ` --url ${toShellWord(url)}`;
    lines.push(
      `Create a plant from a second terminal: plantstore create${option} --id 1 --name fern`,
    );
  }
  lines.push("Stop with Ctrl-C. Listening on:");
  return lines;
}
