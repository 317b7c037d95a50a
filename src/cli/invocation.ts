/** How this program was started: by npm, and with which command line a user can start it again. */
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { attempt } from "../core/attempt.ts";
import { toShellWord } from "../core/quote.ts";
import type { Environment, Io } from "./io.ts";

/** npm quotes the name for the shell. */
const ownLifecycleScript = /^(["']?)plantstore\1(?:\s|$)/;

/**
 * Checks whether `npm start` of plantstore itself or `npx plantstore` started this process. Such a process ends with npm;
 * one that a user's own npm script started does not.
 */
export function isStartedByNpm({
  npm_lifecycle_event: event,
  npm_lifecycle_script: script = "",
  npm_package_name: packageName,
}: Environment): boolean {
  if (event === "npx") return ownLifecycleScript.test(script);
  return event === "start" && packageName === "plantstore";
}

/** The words with which a user can run this program from another terminal, for a shell. */
export function toInvocation({ env, script }: Pick<Io, "env" | "script">): string {
  if (script === undefined || isOnPath(script, env)) return "plantstore";
  if (env["npm_lifecycle_event"] !== undefined) return "npx plantstore";
  const path = relative(".", script);
  return `node ${toShellWord(path.startsWith("..") ? script : path)}`;
}

/** npm adds these directories for its own processes only. */
const npmDirectory = /[\\/]node_modules[\\/](?:\.bin|npm[\\/].*)$/;

function isOnPath(script: string, env: Environment): boolean {
  const isOfNpm = env["npm_lifecycle_event"] !== undefined;
  const directories = (env["PATH"] ?? "").split(delimiter);
  const path = directories
    .filter((directory) => directory !== "" && !(isOfNpm && npmDirectory.test(directory)))
    .map((directory) => join(directory, "plantstore"))
    .find(isExecutable);
  return path !== undefined && toRealPath(path) === toRealPath(script);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function toRealPath(path: string): string {
  return attempt(() => realpathSync(path)) ?? path;
}
