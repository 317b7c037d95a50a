/** Whether a command uses a store on this machine or a server. */
import { UsageError } from "./command-error.ts";
import type { Run } from "./command.ts";
import { serverOptions } from "./options/local.ts";
import { toLongFlag } from "./options/remote.ts";

/**
 * Checks whether a command line selects a server. Only the flag does: a variable or the last login would change the target of
 * a command that deletes.
 *
 * @throws UsageError if a flag belongs to the other kind of target
 */
export function selectsServer({ flags }: Pick<Run, "flags">): boolean {
  if (flags["url"] === undefined) {
    const [, row] = Object.entries(serverOptions).find(([name]) => flags[name] !== undefined) ?? [];
    if (row === undefined) return false;
    throw new UsageError(`${toLongFlag(row.flags)} is for a server: select it with --url`);
  }
  if (flags["store"] === undefined) return true;
  throw new UsageError("--url excludes --store: remove one of them");
}
