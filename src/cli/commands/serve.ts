/** `plantstore serve`: the service in this process, from opening its store to closing it. */
import { type Authenticator, createAuthenticator } from "../../auth/authenticator.ts";
import type { PlantStore } from "../../core/store.ts";
import { createErrorLog } from "../../server/error-log.ts";
import { openPlantServer, type PlantServer } from "../../server/server.ts";
import { openStore } from "../../store/open-store.ts";
import { describeStoreUrl } from "../../store/store-url.ts";
import { CommandError } from "../command-error.ts";
import { findConfigDirectory } from "../directories.ts";
import { exitCodes } from "../exit-codes.ts";
import { type FirstToken, provideFirstToken } from "../first-token.ts";
import { type Io, writeText } from "../io.ts";
import { createReporter } from "../reporter.ts";
import { resolveUrl, type ServeOptions } from "../settings.ts";

/** How long requests under way may take once the server stops. */
const shutdownTimeoutMs = 10_000;

/**
 * Serves until a signal to stop.
 *
 * @returns the exit code
 * @throws CommandError, StoreError when it could not start
 */
export async function serve(options: ServeOptions, io: Io): Promise<number> {
  const stopped = new Promise<void>((resolve) => io.onSignal(() => resolve()));
  const store = await openStore(options.storeUrl);
  const authenticator = createAuthenticator({
    listTokens: () => store.listTokens(),
    noteTokenUses: (digests, day) => store.noteTokenUses(digests, day),
    ownToken: options.environmentToken,
  });
  try {
    let token: FirstToken = { kind: "none" };
    const server = await openServer(options, store, authenticator, io, async (url) => {
      token = await provideToken(options, url, store, io);
    });
    try {
      const reporter = createReporter(io, undefined);
      for (const line of toGreeting(options, server.url, token, io)) await reporter.note(line);
      await writeText(io.stdout, `${server.url}\n`);
      await stopped;
    } finally {
      await server.close(shutdownTimeoutMs);
    }
  } finally {
    await authenticator.flushUses();
    await store.close();
  }
  return exitCodes.done.code;
}

async function provideToken(
  options: ServeOptions,
  url: string,
  store: PlantStore,
  io: Io,
): Promise<FirstToken> {
  try {
    return await provideFirstToken(store, new URL(url).origin, findConfigDirectory(io));
  } catch (error) {
    // Whoever brought a token of their own can do without: the home of a container may be read-only.
    if (!(error instanceof CommandError) || options.environmentToken === undefined) throw error;
    return { kind: "none" };
  }
}

/** @param prepare ends before the first request is answered */
async function openServer(
  options: ServeOptions,
  store: PlantStore,
  authenticator: Authenticator,
  io: Io,
  prepare: (url: string) => Promise<void>,
): Promise<PlantServer> {
  const { host, port } = options;
  // A log that nobody takes any more must not stop the service.
  const onError = createErrorLog((text) => void writeText(io.stderr, text).catch(() => undefined));
  try {
    return await openPlantServer({ ...options, store, authenticator, onError, prepare });
  } catch (error) {
    const explanation = explainListening((error as NodeJS.ErrnoException).code, host, port);
    if (explanation === undefined) throw error;
    throw new CommandError("internal", explanation, { cause: error });
  }
}

function explainListening(
  code: string | undefined,
  host: string,
  port: number,
): string | undefined {
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is in use: stop what listens there, or choose another with --port (0 takes a free one)`;
    case "EACCES":
      return `this user may not listen on port ${port}: choose one above 1023 with --port`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${host} is no address of this machine: choose another with --host`;
    default:
      return undefined;
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

/** The token itself only where a person reads it: a log would keep it. */
function toGreeting(
  options: ServeOptions,
  url: string,
  token: FirstToken,
  io: Io,
): readonly string[] {
  const lines = [
    `Plants are kept in ${describeStoreUrl(options.storeUrl).replace(/^memory:$/, "memory, until it stops")}`,
  ];
  if (token.kind === "issued") {
    lines.push("A token was issued, and saved for this user");
    if (io.stderr.isTTY) lines.push(`Shown only this once: ${token.token}`);
  }
  if (token.kind === "none" && options.environmentToken === undefined) {
    lines.push(
      "No token of this store is saved for this user: `plantstore token issue` makes one, `plantstore login` saves it",
    );
  }
  if (io.stderr.isTTY) {
    const place = isUsualUrl(url, io) ? "" : ` --url ${url}`;
    lines.push(
      `Create a plant from a second terminal: plantstore create${place} --id 1 --name fern`,
    );
    lines.push("Stop with Ctrl-C. Listening on:");
  }
  return lines;
}
