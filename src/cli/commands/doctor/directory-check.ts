/** Checks the directories of plantstore, and creates none. */
import type { Stats } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { toSystemReason } from "../../../core/words.ts";
import { isMissing } from "../../config/config-file.ts";
import { listSavedOrigins, readSavedToken } from "../../config/credentials.ts";
import {
  findConfigDirectoryIfAny,
  type FoundDirectory,
  locateDirectory,
} from "../../config/directories.ts";
import { exitCodes } from "../../exit-codes.ts";
import type { Io } from "../../io.ts";
import { findExposure } from "../../permissions.ts";
import { readSavedSettings } from "../../config/saved-settings.ts";
import { type Finding, toErrorFinding } from "./finding.ts";

/** Checks the directory of saved tokens and settings, and the files in it. */
export async function checkConfigDirectory(io: Io): Promise<Finding> {
  const found = await checkDirectory("config", '"plantstore login" or "plantstore serve"', io);
  const path = findConfigDirectoryIfAny(io);
  if (path === undefined || found.state === "none" || found.state === "error") return found;
  try {
    readSavedSettings(path);
    for (const origin of await listSavedOrigins(path, io)) readSavedToken(path, origin, io);
    return found;
  } catch (error) {
    return toErrorFinding("config", error);
  }
}

/** Checks the directory of the default store. */
export function checkDataDirectory(io: Io): Promise<Finding> {
  return checkDirectory("data", '"plantstore serve"', io);
}

/** @param creator the commands that create the directory */
async function checkDirectory(
  subject: "config" | "data",
  creator: string,
  io: Io,
): Promise<Finding> {
  let directory: FoundDirectory;
  try {
    directory = locateDirectory(subject, io);
  } catch (error) {
    // Only a warning: with an explicit token and store this directory is not needed.
    return { ...toErrorFinding(subject, error), state: "warning" };
  }
  const { path, source } = directory;
  const shown = `${path} (from ${source})`;
  const unusable = (problem: string): Finding => {
    const exitCode = exitCodes.usage.code;
    return { subject, state: "error", message: `${shown} ${problem}`, exitCode };
  };
  let stats: Stats | undefined;
  try {
    stats = await stat(path);
  } catch (error) {
    if (!isMissing(error)) {
      return unusable(`cannot be read (${toSystemReason(error)}): change its permissions`);
    }
  }
  if (stats === undefined) {
    const parent = await findParent(path);
    if (parent.isUsable) {
      const message = `${path} does not exist yet: ${creator} creates it`;
      return { subject, state: "none", message };
    }
    // Not needed with an explicit token and store.
    const message = `${shown} cannot be created, because of ${parent.path}: use another directory to save anything`;
    return { subject, state: "warning", message };
  }
  if (!stats.isDirectory()) {
    return unusable("is not a directory: move it, or use another directory");
  }
  if (!(await isWritable(path))) {
    const message = `${shown} is read-only: change its permissions to save anything`;
    return { subject, state: "warning", message };
  }
  const exposure = await findExposure({ path, privacy: "private" }, io);
  if (exposure !== undefined) return { subject, state: "warning", message: exposure };
  const mode = (stats.mode & 0o7777).toString(8);
  const privacy = io.platform === "win32" ? "" : ` and private (mode ${mode})`;
  return { subject, state: "ok", message: `${path} is writable${privacy}` };
}

/** Finds the nearest existing directory above a path, and whether files can be created in it. */
export async function findParent(path: string): Promise<{ path: string; isUsable: boolean }> {
  const parent = dirname(path);
  const stats = await stat(parent).catch(() => undefined);
  if (stats === undefined && parent !== path) return findParent(parent);
  const isUsable = stats?.isDirectory() === true && (await isWritable(parent));
  return { path: parent, isUsable };
}

/** Checks whether this user can create files in a directory, or change a file. */
export async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}
