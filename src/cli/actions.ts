/** The commands that are typed most, however their arguments were read. Each is loaded when it is called. */
import type { Invocation } from "./invocation.ts";
import type { Io } from "./io.ts";
import type { CreateFlags } from "./settings/create-settings.ts";
import type { ServeFlags } from "./settings/serve-settings.ts";

/**
 * Runs `create`.
 *
 * @param files the operands
 * @throws whatever it throws
 */
export async function runCreate(
  files: readonly string[],
  flags: CreateFlags,
  io: Io,
  invocation: Invocation,
): Promise<void> {
  const { create, toCreateOptions } = await import("./commands/create.ts");
  invocation.exitCode = await create(toCreateOptions(flags, files, io), io, invocation.color);
}

/** Runs `serve`. @throws whatever it throws */
export async function runServe(flags: ServeFlags, io: Io, invocation: Invocation): Promise<void> {
  const { serve, toServeOptions } = await import("./commands/serve.ts");
  invocation.exitCode = await serve(toServeOptions(flags, io), io);
}
