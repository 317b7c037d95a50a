/** Reads the file of `--cacert`: certificates of the authorities that a command trusts. */
import { readFile } from "node:fs/promises";
import { certificates, InvalidValue } from "../library/option-types.ts";
import { CommandError, toSystemReason } from "./command-error.ts";

/**
 * Reads certificates in PEM.
 *
 * @param path undefined for the authorities of Node
 * @throws CommandError if the file cannot be read, or has no valid certificate
 */
export async function readAuthorities(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const fail = (problem: string, cause: unknown): never => {
    const advice = "choose another file with --cacert";
    throw new CommandError("usage", `the certificates in ${path} ${problem}: ${advice}`, { cause });
  };
  try {
    return certificates.parse(await readFile(path, "utf8"));
  } catch (error) {
    const problem = error instanceof InvalidValue ? error.message : undefined;
    if (problem !== undefined) return fail(`are unusable: the file ${problem}`, error);
    return fail(`can't be read (${toSystemReason(error)})`, error);
  }
}
