/** Messages of `serve` once it accepts requests. */
import { attempt } from "../../../core/attempt.ts";
import { toShellWord } from "../../../core/quote.ts";
import type { SeedTally } from "../../../library/seed.ts";
import { describeStoreUrl, parseStoreUrl } from "../../../store/store-url.ts";
import type { Io } from "../../io.ts";
import { urlOption } from "../../options.ts";
import { storeOption } from "../../store-options.ts";
import { toInvocation } from "../../invocation.ts";
import { findServeExposures } from "../../permissions.ts";
import { readOption } from "../../settings.ts";
import type { BannerRow } from "./terminal-messages.ts";
import type { FirstToken } from "./first-token.ts";
import { findRisks } from "./risks.ts";
import type { ServeOptions, ServerRun } from "./serve-options.ts";

/** A server that accepts requests. */
interface Started {
  readonly url: string;
  /** Undefined for a Unix socket. */
  readonly host: string | undefined;
  readonly token: FirstToken;
  /** Undefined without seeds. */
  readonly seeded: SeedTally | undefined;
}

/** Prints warnings, and where the server is: for the user of a terminal, or as lines of the log. */
export async function printStart(started: Started, run: ServerRun): Promise<void> {
  const { url, host, token } = started;
  const { options, io, terminal, log } = run;
  const { store: storeUrl, tls } = options;
  const exposures = await findServeExposures({ storeUrl, keyFile: tls?.keyFile }, io);
  const isForUser = options.logFormat === "text" && io.stderr.isTTY === true;
  for (const warning of [...findRisks(host, token, options, isForUser), ...exposures]) {
    if (isForUser) await terminal.warning(warning);
    else log.message("warn", warning);
  }
  const rows = toRows(started, options, io);
  if (isForUser) {
    const { printBanner } = await import("./terminal-messages.ts");
    // A client needs the absolute path of a socket, which a passed one may not have.
    const isUsable = host !== undefined || url.startsWith("unix:/");
    const usable = isUsable ? rows : rows.filter(({ label }) => label !== "Try");
    await printBanner([...usable, { label: "Stop", text: "Ctrl-C" }], url, run);
    return;
  }
  for (const { label, text, line } of rows) {
    // A log keeps what is written to it: lines to copy may contain the token.
    if (line === undefined || label === "Token") log.message("info", `${label}: ${text}`);
  }
  log.message("info", `Listening on ${url}`);
}

/** The rows of the banner. The commands in it work as they are printed. */
function toRows(
  { url, token, seeded }: Started,
  { store, isVolatile, socketFd, statusMode, docs }: ServeOptions,
  io: Io,
): readonly BannerRow[] {
  const command = toInvocation(io);
  // Commands that use the setting report its error.
  const defaultUrl = attempt(() => readOption(urlOption.url, undefined, io).value);
  const option = url === defaultUrl ? "" : ` --url ${toShellWord(url)}`;
  const create = `${command} create${option} --id 1 --name fern`;
  const advice = `: run \`${command} token issue\` and \`${command} login\``;
  const place = isVolatile ? "memory, until the server stops" : describeStoreUrl(store);
  const rows: BannerRow[] = [{ label: "Store", text: place }];
  if (socketFd !== undefined) {
    rows.push({ label: "Socket", text: "passed to this process (LISTEN_FDS)" });
  }
  if (seeded !== undefined) {
    const { created, unchanged, replaced } = seeded;
    const text = `${created} plants created, ${unchanged} unchanged, ${replaced} replaced`;
    rows.push({ label: "Seeds", text });
  }
  if (statusMode === "http") {
    const text =
      "for a failed create, the first three digits of its error number (--status-mode http)";
    rows.push({ label: "Status", text });
  }
  switch (token.kind) {
    case "environment":
      rows.push({ label: "Token", text: "the one in PLANTSTORE_TOKEN" });
      rows.push({
        label: "Try",
        text: "in a second terminal with this PLANTSTORE_TOKEN:",
        line: create,
      });
      break;
    case "saved":
      rows.push({ label: "Token", text: "the one that is saved for this user" });
      rows.push({ label: "Try", text: "in a second terminal:", line: create });
      break;
    case "issued":
      rows.push({ label: "Token", text: issuedTexts[token.saved], line: token.token });
      rows.push({
        label: "Try",
        text: "in a second terminal:",
        line: token.saved === "never" ? `PLANTSTORE_TOKEN=${token.token} ${create}` : create,
      });
      if (docs && url.startsWith("http")) {
        const page = `${new URL("/", url).href}#${token.token}`;
        rows.push({ label: "Page", text: "in a browser, with this token:", line: page });
      }
      break;
    case "none":
      rows.push({
        label: "Token",
        text: `none of this store is saved for this user${isVolatile ? "" : advice}`,
      });
      if (!isVolatile) {
        rows.push({
          label: "Try",
          text: "in a second terminal:",
          line: `${command} token issue${toStoreFlag(store, io)} | ${command} login${option}`,
        });
      }
  }
  return rows;
}

const issuedTexts = {
  always: "new, saved for this user",
  untilStop: "new, saved for this user until the server stops",
  never: "new, not saved",
} as const;

/** The URL of a database may contain a password, which the user adds. */
function toStoreFlag(store: string, io: Io): string {
  const { absoluteUrl } = parseStoreUrl(store);
  const isDefault = absoluteUrl === readOption(storeOption.store, undefined, io).value;
  return isDefault ? "" : ` --store ${toShellWord(absoluteUrl)}`;
}
