/** A server of the built command, and the commands that use it. */
import { type BinaryOptions, runBinary, startBinary } from "./run-binary.ts";
import { findFreePort } from "./postgres-server.ts";
import { createTemporaryDirectory } from "./temporary-directory.ts";

/** Starts `serve` at a chosen port, so that it saves its token, in a new home unless the options name one. */
export async function serveBinary(
  args: readonly string[] = [],
  { home: given, ...options }: Partial<BinaryOptions> = {},
) {
  const home = given ?? (await createTemporaryDirectory());
  const port = await findFreePort();
  const running = startBinary(["serve", "--port", String(port), ...args], { ...options, home });
  const url = await running.firstLine;
  const env = { ...options.env, PLANTSTORE_URL: url };
  return {
    ...running,
    home,
    url,
    /** Starts a command with the URL, the home and the environment of the server. */
    start: (argv: readonly string[], more: Partial<BinaryOptions> = {}) =>
      startBinary(argv, { home, env, ...more }),
    /** Runs such a command to its end. */
    run: (argv: readonly string[], stdin = "") => runBinary(argv, { home, env, stdin }),
    /** Stops the server, and resolves when it has ended. */
    stop(signal: NodeJS.Signals = "SIGTERM") {
      running.child.kill(signal);
      return running.finished;
    },
  };
}
