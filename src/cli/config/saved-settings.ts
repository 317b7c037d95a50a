/**
 * Settings that `login` and the first `serve` save, and the directories of plantstore: PLANTSTORE_* overrides XDG, which
 * overrides the default of the platform.
 */
import { constants, promises } from "node:fs";
import { basename, dirname, join, posix, type PlatformPath, win32 } from "node:path";
import { attempt } from "../../core/attempt.ts";
import { isError, quoteInput, toSystemReason } from "../../core/messages.ts";
import { CommandError, toReadError } from "../command-error.ts";
import { type Io, loadWithoutSignals } from "../io.ts";
import { readRegularFile } from "../../store/regular-file.ts";

/** URLs of plant stores, with their base paths, by the command that saved them; one that is not saved is absent. */
export interface SavedSettings {
  /** Of the last login. */
  readonly login?: string;
  /** Of the first server on this machine. */
  readonly serve?: string;
}

export function toSettingsFile(configDirectory: string): string {
  return join(configDirectory, `settings${extension}`);
}

export function readSavedSettings(configDirectory: string): SavedSettings {
  const path = toSettingsFile(configDirectory);
  const saved = readConfigFile(path);
  if (saved === undefined) return {};
  if (isSavedSettings(saved)) return saved;
  throw broken(path, "saved settings");
}

/** Changes saved settings; undefined removes one. */
export async function saveSettings(
  configDirectory: string,
  changes: { readonly [Name in keyof SavedSettings]: string | undefined },
): Promise<void> {
  const { login, serve } = { ...readSavedSettings(configDirectory), ...changes };
  await writeConfigFile(toSettingsFile(configDirectory), "the settings", {
    ...(login !== undefined && { login }),
    ...(serve !== undefined && { serve }),
  });
}

/** Without zod: every command that sends requests reads these settings. */
function isSavedSettings(value: unknown): value is SavedSettings {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { login = "", serve = "" }: { login?: unknown; serve?: unknown } = value;
  return typeof login === "string" && typeof serve === "string";
}

const ownerOnlyFile = 0o600;

export const extension = ".json";

/** @returns undefined for a missing file; null for invalid JSON */
export function readConfigFile(path: string): unknown {
  let text: string;
  try {
    text = readRegularFile(path);
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw toReadError(path, error);
  }
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Replaces a file atomically. @param path ends in {@link extension} */
export async function writeConfigFile(path: string, what: string, content: object): Promise<void> {
  const folder = dirname(path);
  try {
    // conf would create a directory that others can read, and retry for a second in a directory that it cannot write.
    // Only a command that writes needs it.
    const { makeDirectory } = await import("../../store/durable-files.ts");
    makeDirectory(folder);
    await promises.access(folder, constants.W_OK);
    // conf writes a new file with its mode, flushes it and renames it. It loads ajv, which takes 10 ms, so it only writes.
    const { default: Conf } = await loadWithoutSignals(() => import("conf"));
    const file = new Conf<Record<string, unknown>>({
      cwd: folder,
      configName: basename(path, extension),
      configFileMode: ownerOnlyFile,
      accessPropertiesByDotNotation: false,
      clearInvalidConfig: false,
    });
    file.store = { ...content };
  } catch (error) {
    throw new CommandError(
      "usage",
      `${what} cannot be saved in ${folder} (${toSystemReason(error)}): make it a writable directory, or set PLANTSTORE_CONFIG_DIR`,
      { cause: error },
    );
  }
}

/** Checks whether a file does not exist, or its path leads through another file. */
export function isMissingFile(error: unknown): boolean {
  if (!isError(error) || !("code" in error)) return false;
  return error.code === "ENOENT" || error.code === "ENOTDIR";
}

export function broken(path: string, what: string): CommandError {
  return new CommandError(
    "usage",
    `${path} is broken: it contains no ${what}; fix it or delete it`,
  );
}

type DirectoryEnvironment = Pick<Io, "env" | "platform" | "homeDirectory">;

/** Where settings and credentials are. */
const config = {
  /** Contains the directory itself. */
  variable: "PLANTSTORE_CONFIG_DIR",
  /** Contains the parent directory (XDG Base Directory Specification). */
  xdgVariable: "XDG_CONFIG_HOME",
  /** Below the home directory. */
  linux: ".config",
  macos: "Library/Preferences",
  windows: { variable: "APPDATA", home: "AppData\\Roaming", leaf: "Config" },
};

type DirectoryRules = typeof config;

/** Where the store is. */
const data: DirectoryRules = {
  variable: "PLANTSTORE_DATA_DIR",
  xdgVariable: "XDG_DATA_HOME",
  linux: ".local/share",
  macos: "Library/Application Support",
  windows: { variable: "LOCALAPPDATA", home: "AppData\\Local", leaf: "Data" },
};

const rulesByKind = { config, data };

/** Finds the directory of settings and credentials, which may not exist yet. */
export function findConfigDirectory(io: DirectoryEnvironment): string {
  return locateDirectory("config", io).path;
}

/** As {@link findConfigDirectory}; undefined without a home directory, so that nothing is saved. */
export function findConfigDirectoryIfAny(io: DirectoryEnvironment): string | undefined {
  return attempt(() => findConfigDirectory(io));
}

export function findDataDirectory(io: DirectoryEnvironment): string {
  return locateDirectory("data", io).path;
}

/** As {@link findConfigDirectory} and {@link findDataDirectory}, with the source: a variable, or `the default`. */
export function locateDirectory(kind: "config" | "data", io: DirectoryEnvironment) {
  const rules = rulesByKind[kind];
  const { env, platform } = io;
  const own = env[rules.variable];
  if (own) {
    assertEnvironmentPath(rules.variable, own, io);
    return { path: own, source: rules.variable };
  }
  const xdg = env[rules.xdgVariable];
  const paths = getPaths(platform);
  // The specification says to ignore a relative path.
  if (xdg && paths.isAbsolute(xdg)) {
    return { path: paths.join(xdg, "plantstore"), source: rules.xdgVariable };
  }
  return { path: findDefault(rules, io), source: "the default" };
}

/** Asserts that a path names the same file wherever the program starts. Files of variables and units keep quotes and `~`. */
export function assertEnvironmentPath(
  variable: string,
  value: string,
  { platform }: DirectoryEnvironment,
): void {
  if (getPaths(platform).isAbsolute(value) && !/[\s\p{Cc}]$/u.test(value)) return;
  throw new CommandError(
    "usage",
    `${variable} must be an absolute path, without ~, quotes or spaces around it (got "${quoteInput(value)}")`,
  );
}

function getPaths(platform: NodeJS.Platform): PlatformPath {
  return platform === "win32" ? win32 : posix;
}

function findDefault(rules: DirectoryRules, io: DirectoryEnvironment): string {
  if (io.platform === "win32") {
    const { variable, home, leaf } = rules.windows;
    const parent = io.env[variable] || win32.join(findHome(rules, io), home);
    return win32.join(parent, "plantstore", leaf);
  }
  const parent = io.platform === "darwin" ? rules.macos : rules.linux;
  return posix.join(findHome(rules, io), parent, "plantstore");
}

function findHome(rules: DirectoryRules, { homeDirectory }: DirectoryEnvironment): string {
  if (homeDirectory) return homeDirectory;
  throw new CommandError("usage", `no home directory: set ${rules.variable} to a directory`);
}
