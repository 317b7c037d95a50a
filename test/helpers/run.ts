import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The checkout. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a program to its end. Rejects if it fails. */
export const run = promisify(execFile);
