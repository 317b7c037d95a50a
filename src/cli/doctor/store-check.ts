/** Looks at the store of this machine's settings, and changes nothing in it. */
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { describeStoreUrl, parseStoreUrl } from "../../store/store-url.ts";
import { isMissing } from "../settings/config-file.ts";
import { isActive } from "../tokens/issued-token.ts";
import type { Io } from "../io.ts";
import { showWhile } from "../output/progress.ts";
import { readStore } from "../store-access.ts";
import { findParent, isWritable } from "./directory-check.ts";
import { type Finding, toErrorFinding } from "./finding.ts";

/**
 * Whether a store can be opened, and what is stored is whole.
 *
 * @param url a store URL that was checked
 * @param colorChoice `--color` or `--no-color`, when one was given
 */
export async function checkStore(
  url: string,
  io: Io,
  colorChoice: boolean | undefined,
): Promise<Finding> {
  const subject = "store";
  const place = describeStoreUrl(url);
  const location = parseStoreUrl(url);
  if (location.engine === "memory") {
    return { subject, state: "ok", message: "memory: lives in its server, and ends with it" };
  }
  const path = location.engine === "sqlite" ? resolve(location.path) : undefined;
  try {
    if (path !== undefined && (await isUnborn(path))) {
      const parent = await findParent(path);
      if (parent.isUsable) {
        const message = `${place} is not there yet: "plantstore serve" creates it`;
        return { subject, state: "none", message };
      }
      const message = `${place} is not there and can't be created, because of ${parent.path}: choose another path to serve it`;
      return { subject, state: "warning", message };
    }
    const count = await showWhile(
      () => `checking ${place}`,
      () =>
        readStore(url, async (store) => {
          await store.checkSoundness();
          const tokens = await store.listTokens();
          return tokens.filter((token) => isActive(token, Date.now())).length;
        }),
      io,
      colorChoice,
    );
    const message = `${place} is sound, with ${count} active token${count === 1 ? "" : "s"}`;
    if (path === undefined || ((await isWritable(path)) && (await isWritable(dirname(path))))) {
      return { subject, state: "ok", message };
    }
    return {
      subject,
      state: "warning",
      message: `${message}, and may be read but not written: to serve it, change the permissions of the file and its directory`,
    };
  } catch (error) {
    return toErrorFinding(subject, error);
  }
}

/** Of a file that is not there, or is empty, `serve` makes a store. */
async function isUnborn(path: string): Promise<boolean> {
  const stats = await stat(path).catch((error: unknown) => (isMissing(error) ? null : undefined));
  return stats === null || (stats?.isFile() === true && stats.size === 0);
}
