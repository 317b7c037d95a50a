/** Checks the directories of plantstore, and creates none. */
import { access, constants, stat } from "node:fs/promises";
import { platform } from "node:os";
import { dirname } from "node:path";
import { CommandError, toSystemReason } from "../../command-error.ts";
import { isMissing } from "../../config/config-file.ts";
import { listSavedOrigins, readSavedToken } from "../../config/credentials.ts";
import {
  type FoundDirectory,
  locateConfigDirectory,
  locateDataDirectory,
} from "../../config/directories.ts";
import type { Io } from "../../io.ts";
import { findExposure } from "../../permissions.ts";
import { readSavedSettings } from "../../config/saved-settings.ts";
import { type Finding, type Subject, toErrorFinding } from "./finding.ts";

/** Checks the directory of saved tokens and settings, and the files in it. */
export async function checkConfigDirectory(io: Io): Promise<Finding> {
  const subject = "config";
  return checkDirectory(
    subject,
    () => locateConfigDirectory(io),
    async (directory) => {
      const { path } = directory;
      const found = await inspectDirectory(subject, directory, "login", io);
      if (found.state === "none") return found;
      readSavedSettings(path);
      const origins = await listSavedOrigins(path);
      for (const origin of origins) readSavedToken(path, origin);
      const saved = origins.length === 0 ? "no saved tokens" : `tokens for ${origins.join(", ")}`;
      return found.state === "ok" ? { ...found, message: `${found.message}: ${saved}` } : found;
    },
  );
}

/** Checks the directory of the default store. */
export async function checkDataDirectory(io: Io): Promise<Finding> {
  const subject = "data";
  return checkDirectory(
    subject,
    () => locateDataDirectory(io),
    (directory) => inspectDirectory(subject, directory, "serve", io),
  );
}

/** @param locate throws without a home directory */
async function checkDirectory(
  subject: Subject,
  locate: () => FoundDirectory,
  inspect: (directory: FoundDirectory) => Promise<Finding>,
): Promise<Finding> {
  let directory: FoundDirectory;
  try {
    directory = locate();
  } catch (error) {
    // Only a warning: with an explicit token and store this directory is not needed.
    return { ...toErrorFinding(subject, error), state: "warning" };
  }
  try {
    return await inspect(directory);
  } catch (error) {
    return toErrorFinding(subject, error);
  }
}

/** @param creator the command that creates it */
async function inspectDirectory(
  subject: Subject,
  { path, source }: FoundDirectory,
  creator: string,
  io: Io,
): Promise<Finding> {
  const shown = `${path} (from ${source})`;
  const stats = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw unusable(`${shown} can't be read (${toSystemReason(error)}): change its permissions`);
  });
  if (stats === undefined) {
    const parent = await findParent(path);
    if (parent.isUsable) {
      const message = `${shown} does not exist yet: "plantstore ${creator}" creates it`;
      return { subject, state: "none", message };
    }
    // Not needed with an explicit token and store.
    const message = `${shown} can't be created, because of ${parent.path}: use another directory to save anything`;
    return { subject, state: "warning", message };
  }
  if (!stats.isDirectory()) {
    throw unusable(`${shown} is not a directory: move it, or use another directory`);
  }
  if (!(await isWritable(path))) {
    const message = `${shown} is read-only: change its permissions to save anything`;
    return { subject, state: "warning", message };
  }
  const exposure = await findExposure({ path, privacy: "private" }, io);
  if (exposure !== undefined) return { subject, state: "warning", message: exposure };
  const mode = platform() === "win32" ? "" : `, mode ${(stats.mode & 0o7777).toString(8)}`;
  return { subject, state: "ok", message: `${path} (from ${source}${mode})` };
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

function unusable(message: string): CommandError {
  return new CommandError("usage", message);
}
