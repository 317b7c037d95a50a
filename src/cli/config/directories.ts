/** Directories of plantstore: PLANTSTORE_* overrides XDG, which overrides the default of the platform. */
import path from "node:path";
import { attempt } from "../../core/attempt.ts";
import { CommandError } from "../command-error.ts";
import type { Io } from "../io.ts";

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

/** A directory, and its source: a variable, or `the default`. */
export interface FoundDirectory {
  readonly path: string;
  readonly source: string;
}

/**
 * Finds the directory of settings and credentials, which may not exist yet.
 *
 * @throws CommandError without a home directory
 */
export function findConfigDirectory(io: DirectoryEnvironment): string {
  return locateDirectory("config", io).path;
}

/** As {@link findConfigDirectory}; undefined without a home directory, so that nothing is saved. */
export function findConfigDirectoryIfAny(io: DirectoryEnvironment): string | undefined {
  return attempt(() => findConfigDirectory(io));
}

/** Finds the directory of the store, which may not exist yet. @throws CommandError without a home directory */
export function findDataDirectory(io: DirectoryEnvironment): string {
  return locateDirectory("data", io).path;
}

/** As {@link findConfigDirectory} and {@link findDataDirectory}, with the source. */
export function locateDirectory(kind: "config" | "data", io: DirectoryEnvironment): FoundDirectory {
  const rules = rulesByKind[kind];
  const { env, platform } = io;
  const own = env[rules.variable];
  if (own) return { path: own, source: rules.variable };
  const xdg = env[rules.xdgVariable];
  const paths = platform === "win32" ? path.win32 : path.posix;
  // The specification says to ignore a relative path.
  if (xdg && paths.isAbsolute(xdg)) {
    return { path: paths.join(xdg, "plantstore"), source: rules.xdgVariable };
  }
  return { path: findDefault(rules, io), source: "the default" };
}

function findDefault(rules: DirectoryRules, io: DirectoryEnvironment): string {
  if (io.platform === "win32") {
    const { variable, home, leaf } = rules.windows;
    const parent = io.env[variable] || path.win32.join(findHome(rules, io), home);
    return path.win32.join(parent, "plantstore", leaf);
  }
  const parent = io.platform === "darwin" ? rules.macos : rules.linux;
  return path.posix.join(findHome(rules, io), parent, "plantstore");
}

function findHome(rules: DirectoryRules, { homeDirectory }: DirectoryEnvironment): string {
  if (homeDirectory) return homeDirectory;
  throw new CommandError("usage", `no home directory: set ${rules.variable} to a directory`);
}
