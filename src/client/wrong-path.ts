/** Finds the right URL after the Error for an unknown path. */
import { joinPath } from "../core/base-url.ts";
import { operations } from "../core/contract.ts";
import { errorTable } from "../core/errors.ts";
import type { ErrorBody } from "../core/plant.ts";

/** Checks for the Error of a plant store that is at another URL, of the same server. */
export function isOfOtherUrl({ error }: ErrorBody): boolean {
  return error === errorTable.noSuchPath.error;
}

/**
 * Finds the URL of the plant store that sent an {@link isOfOtherUrl} Error. A proxy may have removed a prefix of the path.
 *
 * @param flag name of the URL in the advice
 * @returns what to change; undefined for any other Error, and if the URL is unknown
 */
export function findUrlAdvice(
  baseUrl: string,
  error: ErrorBody,
  flag = "--url",
): string | undefined {
  const [, path, basePath] =
    /^unknown path "([^"]+)": create plants with POST ((?:\/[\w.~-]+)*)\/plants$/.exec(
      error.message,
    ) ?? [];
  const used = joinPath(baseUrl, operations.create.path);
  if (path === undefined || !isOfOtherUrl(error) || !used.endsWith(path)) return undefined;
  const root = used.slice(0, -path.length).replace(/:$/, "");
  const right = basePath ? joinPath(root, basePath) : root;
  const isPathTwice = joinPath(right, operations.create.path) === baseUrl;
  return isPathTwice ? `remove ${operations.create.path} from ${flag}` : `use ${flag} ${right}`;
}
