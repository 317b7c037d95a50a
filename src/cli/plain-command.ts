/**
 * The commands that are typed most, read without commander: to load it and to build its tree takes a fifth of a `create`.
 * It still reads everything else.
 */
import { runCreate, runServe } from "./actions.ts";
import type { Invocation } from "./invocation.ts";
import type { Io } from "./io.ts";
import { readPlainArguments } from "./plain-arguments.ts";
import { clientSettings } from "./settings/client-settings.ts";
import { type CreateFlags, createOptions, manySettings } from "./settings/create-settings.ts";
import { type ServeFlags, serveSettings } from "./settings/serve-settings.ts";
import type { Setting } from "./settings/setting.ts";

/** A command, and what it was called with. */
export type PlainCommand =
  | { readonly name: "create"; readonly flags: CreateFlags; readonly files: readonly string[] }
  | { readonly name: "serve"; readonly flags: ServeFlags };

/**
 * Reads a `create` or a `serve` with nothing in question.
 *
 * @param argv the arguments, without Node and the script
 * @returns undefined when commander has to be asked
 */
export function readPlainCommand([name, ...words]: readonly string[]): PlainCommand | undefined {
  switch (name) {
    case "create": {
      const read = readPlainArguments<CreateFlags>(words, listCreateOptions());
      return read && { name, flags: read.flags, files: read.operands };
    }
    case "serve": {
      const read = readPlainArguments<ServeFlags>(words, listOptions(serveSettings));
      if (read === undefined || read.operands.length > 0) return undefined;
      return { name, flags: read.flags };
    }
    default:
      return undefined;
  }
}

/** Runs it. @throws whatever the command throws */
export function runPlainCommand(
  command: PlainCommand,
  io: Io,
  invocation: Invocation,
): Promise<void> {
  return command.name === "create"
    ? runCreate(command.files, command.flags, io, invocation)
    : runServe(command.flags, io, invocation);
}

function listCreateOptions(): string[] {
  const own = createOptions.flatMap(([, options]) => options.map(([flags]) => flags));
  return [...own, ...listOptions({ ...clientSettings, ...manySettings })];
}

/** What may be given several times, or turns something off, is not read as the others are. */
function listOptions(settings: Readonly<Record<string, Setting<unknown>>>): string[] {
  return Object.values(settings).flatMap(({ flags, isRepeatable }) =>
    isRepeatable || flags.startsWith("--no-") ? [] : [flags],
  );
}
