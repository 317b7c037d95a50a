/** What V8 is told before plants are read from an input, which may be many. One from flags is over before it counts. */
import type { Io } from "../io.ts";

/**
 * Lets V8 collect what is forgotten before it has quadrupled what is not: after a collection the heap may grow by a
 * fifth and a fixed step. Measured on many creates: a third less memory, in the same time.
 *
 * On Node 20 it leaves undici's WebAssembly as it was compiled first. Else it optimises that in the background, and the
 * exit waits for it: 90 of 190 ms of two creates. From Node 22 on it does not wait. Many creates take as long either way.
 */
export async function prepareForMany({ nodeVersion }: Pick<Io, "nodeVersion">): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--heap-growing-percent=20");
  if (Number.parseInt(nodeVersion, 10) < 22) setFlagsFromString("--liftoff-only");
}
