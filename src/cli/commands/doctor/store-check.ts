/** Checks the store of this machine's settings, without changing it. */
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { useAndClose } from "../../../core/store.ts";
import { openStoreReader } from "../../../store/open-store.ts";
import { parseStoreUrl } from "../../../store/store-url.ts";
import { isMissing } from "../../config/config-file.ts";
import { isActive } from "../token/token-rows.ts";
import type { Run } from "../../command.ts";
import { findExposure, listStorePaths } from "../../permissions.ts";
import { findParent, isWritable } from "./directory-check.ts";
import { type Finding, toErrorFinding } from "./finding.ts";

/**
 * Checks that a store can be opened and is not damaged.
 *
 * @param url a valid store URL
 */
export async function checkStore(
  url: string,
  { io, terminal }: Pick<Run, "io" | "terminal">,
): Promise<Finding> {
  const subject = "store";
  const location = parseStoreUrl(url);
  const { place, isVolatile } = location;
  if (isVolatile) {
    return { subject, state: "ok", message: `${place} exists only inside its server` };
  }
  const path = location.path === undefined ? undefined : resolve(location.path);
  try {
    if (path !== undefined && (await isAbsent(path))) {
      const parent = await findParent(path);
      if (parent.isUsable) {
        const message = `${place} does not exist yet: "plantstore serve" creates it`;
        return { subject, state: "none", message };
      }
      const message = `${place} does not exist and cannot be created, because of ${parent.path}: choose another path`;
      return { subject, state: "warning", message };
    }
    const count = await terminal.showWhile(
      () => `checking ${place}`,
      () => countTokens(url),
    );
    const message = `${place} is sound, with ${count} active token${count === 1 ? "" : "s"}`;
    for (const guarded of await listStorePaths(url, io)) {
      const exposure = await findExposure(guarded, io);
      if (exposure !== undefined) return { subject, state: "warning", message: exposure };
    }
    if (path === undefined || ((await isWritable(path)) && (await isWritable(dirname(path))))) {
      return { subject, state: "ok", message };
    }
    return {
      subject,
      state: "warning",
      message: `${message}, but is read-only: to serve it, change the permissions of the file and its directory`,
    };
  } catch (error) {
    return toErrorFinding(subject, error);
  }
}

/** Checks a store for damage. @returns the number of its active tokens */
async function countTokens(url: string): Promise<number> {
  return useAndClose(await openStoreReader(url), async (store) => {
    await store.checkSoundness();
    const tokens = await store.listTokens();
    return tokens.filter((token) => isActive(token, Date.now())).length;
  });
}

/**
 * Checks that SQLite can be loaded, which a store needs before it exists.
 *
 * @param url a valid store URL
 * @returns a finding only if SQLite is needed and missing
 */
export async function checkSqlite(url: string): Promise<readonly Finding[]> {
  try {
    await parseStoreUrl(url).loadProvider?.();
    return [];
  } catch (error) {
    return [toErrorFinding("sqlite", error)];
  }
}

/** Checks whether `serve` would create the store: the file is missing or empty. */
async function isAbsent(path: string): Promise<boolean> {
  const stats = await stat(path).catch((error: unknown) => (isMissing(error) ? null : undefined));
  return stats === null || (stats?.isFile() === true && stats.size === 0);
}
