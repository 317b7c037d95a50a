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

/** Prints warnings, and where the server is: as messages to the user, or as lines of a JSON log. */
export async function printStart(started: Started, run: ServerRun): Promise<void> {
  const { url, host, token } = started;
  const { options, io, terminal, log } = run;
  const isJson = options.logFormat === "json";
  const { store: storeUrl, tls } = options;
  const exposures = await findServeExposures({ storeUrl, keyFile: tls?.keyFile }, io);
  // A log would keep the token.
  const isForUser = !isJson && io.stderr.isTTY === true;
  for (const warning of [...findRisks(host, token, options, isForUser), ...exposures]) {
    if (isJson) log.message("warn", warning);
    else await terminal.warning(warning);
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
  for (const { sentence } of rows) {
    if (sentence === undefined) continue;
    if (isJson) log.message("info", sentence);
    else await terminal.note(sentence);
  }
  if (isJson) log.message("info", `Listening on ${url}`);
}

/** A row of the banner. */
interface StartRow extends BannerRow {
  /** The same for a log; absent if a log needs no line for it. */
  readonly sentence?: string | undefined;
}

/** The rows of the banner. The commands in it work as they are printed. */
function toRows(
  { url, token, seeded }: Started,
  { store, isVolatile, socketFd, statusMode, docs }: ServeOptions,
  io: Io,
): readonly StartRow[] {
  const command = toInvocation(io);
  // Commands that use the setting report its error.
  const defaultUrl = attempt(() => readOption(urlOption.url, undefined, io).value);
  const option = url === defaultUrl ? "" : ` --url ${toShellWord(url)}`;
  const create = `${command} create${option} --id 1 --name fern`;
  const place = isVolatile ? "memory, until the server stops" : describeStoreUrl(store);
  const rows: StartRow[] = [
    { label: "Store", text: place, sentence: `Plants are stored in ${place}` },
  ];
  if (socketFd !== undefined) {
    const text = "the one that was passed to this process (LISTEN_FDS)";
    rows.push({ label: "Socket", text, sentence: `The socket is ${text}` });
  }
  if (seeded !== undefined) {
    const { created, unchanged, replaced } = seeded;
    const text = `${created} plants created, ${unchanged} unchanged, ${replaced} replaced`;
    rows.push({ label: "Seeds", text, sentence: `Seeds: ${text}` });
  }
  if (statusMode === "http") {
    const text = "the one that its error number begins with, not 400 (--status-mode http)";
    rows.push({ label: "Status", text, sentence: `The status of a failed create is ${text}` });
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
      rows.push({ label: "Token", ...issuedTexts[token.saved], line: token.token });
      rows.push({
        label: "Try",
        text: "in a second terminal:",
        line: token.saved === "never" ? `PLANTSTORE_TOKEN=${token.token} ${create}` : create,
      });
      // Only on a terminal: a row without a sentence is not in a log.
      if (docs && url.startsWith("http")) {
        const page = `${new URL("/", url).href}#${token.token}`;
        rows.push({ label: "Page", text: "in a browser, with this token:", line: page });
      }
      break;
    case "none":
      rows.push({ label: "Token", text: "none of this store is saved for this user" });
      if (!isVolatile) {
        rows.push({
          label: "Try",
          text: "in a second terminal, to issue and save one:",
          line: `${command} token issue${toStoreFlag(store, io)} | ${command} login${option}`,
          sentence: `No token of this store is saved for this user: run \`${command} token issue\` and \`${command} login\``,
        });
      }
  }
  return rows;
}

const issuedTexts = {
  always: {
    text: "new, saved for this user, and shown only now:",
    sentence: "A token was issued, and saved for this user",
  },
  untilStop: {
    text: "new, saved until the server stops, and shown only now:",
    sentence: "A token was issued, and saved for this user until the server stops",
  },
  never: {
    text: "new, not saved, and shown only now:",
    sentence: "A token was issued; it is not saved",
  },
} as const;

/** The URL of a database may contain a password, which the user adds. */
function toStoreFlag(store: string, io: Io): string {
  const { absoluteUrl } = parseStoreUrl(store);
  const isDefault = absoluteUrl === readOption(storeOption.store, undefined, io).value;
  return isDefault ? "" : ` --store ${toShellWord(absoluteUrl)}`;
}
