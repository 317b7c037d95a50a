/** Finds the place where `list`, `get`, `export` and `delete` act: a store or a server. `create` finds its server in the same way. */
import { attempt } from "../core/attempt.ts";
import { isLocalUrl, toEndpoint } from "../core/base-url.ts";
import { toShellWord } from "../core/messages.ts";
import { parseStoreUrl } from "../store/store-url.ts";
import { adviseCommand, CommandError, UsageError } from "./command-error.ts";
import type { Run } from "./command.ts";
import { findConfigDirectoryIfAny, readSavedSettings } from "./config/saved-settings.ts";
import type { IdList } from "./id-input.ts";
import type { Io } from "./io.ts";
import { serverOptions, storeOption, targetOptions } from "./options/local.ts";
import { toLongFlag, urlOption } from "./options/remote.ts";
import { type Flags, readOption, readVariable, toCommandLine } from "./options/values.ts";

export interface Place {
  readonly kind: "server" | "store";
  /** For messages: without the password of a store. */
  readonly url: string;
  readonly foundBy: PlaceSource;
}

/** What decided, from the first to the last that is asked. */
type PlaceSource = "flag" | "variable" | "login" | "machine";

/**
 * Finds the place of a command: by its flag, then the variable, then the last login unless it is to the server of this
 * machine, and then the default store of this machine.
 */
export function findPlace({ flags, io }: Pick<Run, "flags" | "io">): Place {
  const [kind, foundBy] = select(flags["url"], flags["store"], io);
  if (kind === "server") {
    return { kind, foundBy, url: readOption(urlOption.url, flags["url"], io).value ?? "" };
  }
  const store = readOption(storeOption.store, flags["store"], io).value ?? "";
  const place: Place = { kind, foundBy, url: parseStoreUrl(store).url };
  const [, row] = Object.entries(serverOptions).find(([name]) => flags[name] !== undefined) ?? [];
  if (row === undefined) return place;
  throw new UsageError(
    `${toLongFlag(row.flags)} is for a server, not for ${describePlace(place)}: pass --url too`,
  );
}

function select(
  url: string | undefined,
  store: string | undefined,
  io: Io,
): readonly [Place["kind"], PlaceSource] {
  if (url !== undefined && store !== undefined) {
    throw new UsageError("--url excludes --store: remove one of them");
  }
  if (url !== undefined) return ["server", "flag"];
  if (store !== undefined) return ["store", "flag"];
  const [hasUrl, hasStore] = [urlOption.url, storeOption.store].map(
    (option) => readVariable(option, io) !== undefined,
  );
  if (hasUrl && hasStore) {
    const names = `${urlOption.url.env} and ${storeOption.store.env}`;
    throw new CommandError("usage", `${names} are both set: pass --url or --store`);
  }
  if (hasUrl) return ["server", "variable"];
  if (hasStore) return ["store", "variable"];
  return isLoginElsewhere(io) ? ["server", "login"] : ["store", "machine"];
}

/** Checks for a login to another server than that of this machine, whose store is the default store. */
function isLoginElsewhere(io: Io): boolean {
  const directory = findConfigDirectoryIfAny(io);
  const { login, serve } = directory === undefined ? {} : readSavedSettings(directory);
  if (login === undefined) return false;
  const here = serve ?? urlOption.url.default;
  return (
    attempt(() => isLocalUrl(login) && toSocketOrPort(login) === toSocketOrPort(here)) !== true
  );
}

function toSocketOrPort(url: string): string {
  const { socketPath, httpUrl } = toEndpoint(url);
  const { port, protocol } = new URL(httpUrl);
  return socketPath ?? (port || protocol);
}

export function describePlace({ kind, url }: Place): string {
  return kind === "server" ? `the plant store at ${url}` : `the store ${url}`;
}

export function toMissingError(missing: IdList, place: Place, run: Run): CommandError {
  const list = toCommandLine("list", targetOptions, toShownFlags(run.flags));
  const problem = `no plant in ${describePlace(place)} has the ${missing.describe()}`;
  return new CommandError("noSuchPlant", problem, {
    hints: adviseCommand("List all plants", list),
  });
}

export function toRunLine({ command, operands }: Run, flags: Flags): string {
  const line = toCommandLine(command.name, command.options ?? {}, toShownFlags(flags));
  return [line, ...operands.map(toShellWord)].join(" ");
}

/** Flags to paste: without the password of a store. A store of the environment needs no flag. */
export function toShownFlags({ store, ...flags }: Flags): Flags {
  const { type } = storeOption.store;
  return { ...flags, store: store && type.format(type.parse(store)) };
}

/** Lines that show the command for the default store; none if the user chose a server with the flag. */
export function toLocalHints(run: Run, { foundBy }: Place): readonly string[] {
  if (foundBy === "flag") return [];
  const others = Object.entries(run.flags).filter(([name]) => !Object.hasOwn(serverOptions, name));
  const store = storeOption.store.default(run.io);
  const command = toRunLine(run, { ...Object.fromEntries(others), store });
  return adviseCommand("Use the store of this machine", command);
}
