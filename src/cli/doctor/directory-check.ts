/** Looks at the directories that plantstore keeps its files in, and creates none. */
import { access, constants, stat } from "node:fs/promises";
import { platform } from "node:os";
import { dirname } from "node:path";
import { CommandError } from "../command-error.ts";
import { isMissing } from "../settings/config-file.ts";
import { listSavedOrigins, readSavedToken } from "../tokens/credentials.ts";
import {
  type FoundDirectory,
  locateConfigDirectory,
  locateDataDirectory,
} from "../settings/directories.ts";
import type { Io } from "../io.ts";
import { readSavedSettings } from "../settings/saved-settings.ts";
import { toSystemReason } from "../system-error.ts";
import { type Finding, type Subject, toErrorFinding } from "./finding.ts";

/** The directory of saved tokens and settings, and what is in it: each file must be sound, and its owner's alone. */
export async function checkConfigDirectory(io: Io): Promise<Finding> {
  const subject = "config";
  return checkDirectory(
    subject,
    () => locateConfigDirectory(io),
    async (directory) => {
      const { path } = directory;
      const found = await inspectDirectory(subject, directory, "login");
      if (found.state === "none") return found;
      readSavedSettings(path);
      const origins = await listSavedOrigins(path);
      for (const origin of origins) readSavedToken(path, origin);
      const saved = origins.length === 0 ? "no saved tokens" : `tokens for ${origins.join(", ")}`;
      return found.state === "ok" ? { ...found, message: `${found.message}: ${saved}` } : found;
    },
  );
}

/** The directory of the store, unless another is named. */
export async function checkDataDirectory(io: Io): Promise<Finding> {
  const subject = "data";
  return checkDirectory(
    subject,
    () => locateDataDirectory(io),
    (directory) => inspectDirectory(subject, directory, "serve"),
  );
}

/** @param locate throws where there is no home directory */
async function checkDirectory(
  subject: Subject,
  locate: () => FoundDirectory,
  inspect: (directory: FoundDirectory) => Promise<Finding>,
): Promise<Finding> {
  let directory: FoundDirectory;
  try {
    directory = locate();
  } catch (error) {
    // Who names a token and a store needs none; of whoever does not, that is what is found wrong.
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
): Promise<Finding> {
  const shown = `${path} (from ${source})`;
  const stats = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw unusable(
      `${shown} can't be looked at (${toSystemReason(error)}): change its permissions`,
    );
  });
  if (stats === undefined) {
    const parent = await findParent(path);
    if (parent.isUsable) {
      const message = `${shown} is not there yet: "plantstore ${creator}" creates it`;
      return { subject, state: "none", message };
    }
    // Who names a token and a store elsewhere needs none.
    const message = `${shown} can't be created, because of ${parent.path}: name another directory to keep anything there`;
    return { subject, state: "warning", message };
  }
  if (!stats.isDirectory()) {
    throw unusable(`${shown} is not a directory: move it away, or name another directory`);
  }
  if (!(await isWritable(path))) {
    const message = `${shown} may be read but not written: change its permissions to keep anything there`;
    return { subject, state: "warning", message };
  }
  const mode = platform() === "win32" ? "" : `, mode ${(stats.mode & 0o7777).toString(8)}`;
  return { subject, state: "ok", message: `${path} (from ${source}${mode})` };
}

/** The nearest directory above a path that is there, and whether something can be created in it. */
export async function findParent(path: string): Promise<{ path: string; isUsable: boolean }> {
  const parent = dirname(path);
  const stats = await stat(parent).catch(() => undefined);
  if (stats === undefined && parent !== path) return findParent(parent);
  const isUsable = stats?.isDirectory() === true && (await isWritable(parent));
  return { path: parent, isUsable };
}

/** Whether this user may create files in a directory, or change a file. */
export async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

function unusable(message: string): CommandError {
  return new CommandError("usage", message);
}
