/** Directories of plantstore: PLANTSTORE_* overrides XDG, which overrides the default of the platform; and paths of variables. */
import path from "node:path";
import { attempt } from "../../core/attempt.ts";
import { quoteInput } from "../../core/messages.ts";
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

/** Finds the directory of settings and credentials, which may not exist yet. */
export function findConfigDirectory(io: DirectoryEnvironment): string {
  return locateDirectory("config", io).path;
}

/** As {@link findConfigDirectory}; undefined without a home directory, so that nothing is saved. */
export function findConfigDirectoryIfAny(io: DirectoryEnvironment): string | undefined {
  return attempt(() => findConfigDirectory(io));
}

/** Finds the directory of the store, which may not exist yet. */
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

function getPaths(platform: NodeJS.Platform): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
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
