/** What `serve` says once it takes requests. */
import { toShellWord } from "../../core/shell-word.ts";
import type { Log } from "../../server/ops/log.ts";
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
  const { options, url, token } = started;
  const reporter = createReporter(io, undefined);
  const isJson = options.logFormat === "json";
  for (const warning of findRisks(started)) {
    if (isJson) log.message("warn", warning);
    else await reporter.warning(warning);
  }
  const tell = async (line: string): Promise<void> => {
    if (isJson) log.message("info", line);
    else await reporter.note(line);
  };
  // The token itself only where a person reads it: a log would keep it.
  const isForPerson = !isJson && io.stderr.isTTY === true;
  for (const line of describeStart(started)) await tell(line);
  if (isForPerson && token.kind === "issued") {
    await reporter.reveal(`Shown only this once: ${token.token}`);
  }
  if (isJson) await tell(`Listening on ${url}`);
  if (isForPerson) for (const line of toNextSteps(started, io)) await tell(line);
}

/** Whether `create` comes here when it is not told where to go. */
function isUsualUrl(url: string, io: Io): boolean {
  try {
    return resolveUrl({}, io).baseUrl === url;
  } catch {
    return false; // What is wrong there is of no concern here.
  }
}

function findRisks({ options, token }: Started): readonly string[] {
  const { host, socketPath, tls, storeUrl, environmentToken } = options;
  const risks = [];
  const isLocal = isLoopback(host.includes(":") ? `[${host}]` : host);
  if (socketPath === undefined && tls === undefined && !isLocal) {
    risks.push(
      `tokens arrive at ${host} unencrypted: give --tls-cert and --tls-key where others listen`,
    );
  }
  if (token.kind === "none" && environmentToken === undefined && storeUrl === "memory:") {
    risks.push("no token lets anybody in: start it with one in PLANTSTORE_TOKEN");
  }
  return risks;
}

function describeStart({ options, token }: Started): readonly string[] {
  const place = describeStoreUrl(options.storeUrl).replace(/^memory:$/, "memory, until it stops");
  const lines = [`Plants are kept in ${place}`];
  if (token.kind === "issued") lines.push("A token was issued, and saved for this user");
  const { environmentToken, storeUrl } = options;
  if (token.kind === "none" && environmentToken === undefined && storeUrl !== "memory:") {
    lines.push(
      "No token of this store is saved for this user: `plantstore token issue` makes one, `plantstore login` saves it",
    );
  }
  return lines;
}

function toNextSteps({ options, url }: Started, io: Io): readonly string[] {
  const lines = ["Stop with Ctrl-C. Listening on:"];
  if (options.socketPath !== undefined) return lines;
  const option = isUsualUrl(url, io) ? "" : ` --url ${toShellWord(url)}`;
  return [
    `Create a plant from a second terminal: plantstore create${option} --id 1 --name fern`,
    ...lines,
  ];
}
