/** A server that cannot start because its process has too many open files. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { serveBinary } from "../helpers/binary-server.ts";
import { startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const env = { PLANTSTORE_TOKEN: "a-token-of-this-test" };

/** Starts a server that may open so many files. Resolves with its output once it serves, or has ended. */
async function serve(limit: number): Promise<{ readonly output: string; readonly code: unknown }> {
  const home = await createTemporaryDirectory();
  const args = ["serve", "--port", "0", "--store", `sqlite:${join(home, "plants.db")}`];
  const { child, finished } = startBinary(args, { home, env, shell: `ulimit -n ${limit}` });
  child.stdout.once("data", () => child.kill("SIGTERM"));
  const { code, stdout, stderr } = await finished;
  return { output: stdout + stderr, code };
}

it.runIf(process.platform === "linux")(
  "serves everyone while more clients are idle than it may open",
  async () => {
    const options = { env, shell: "ulimit -n 256" };
    const server = await serveBinary(["--max-connections", "5000"], options);
    const url = new URL(server.url);
    const sockets: Socket[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (let count = 0; count < 400; count++) {
      const socket = connect(Number(url.port), url.hostname).on("error", () => {});
      sockets.push(socket);
      await once(socket, "connect");
      if (count % 50 !== 0) continue;
      // A connection that fetch keeps could be the idle one that makes room.
      const request = { headers: { Connection: "close" } };
      expect((await fetch(new URL("/readyz", url), request)).status).toBe(200);
    }
    expect((await server.stop()).stderr).toContain("--max-connections is 64 instead of 5000");
  },
);

it.runIf(process.platform === "linux")("says so, whichever file cannot be opened", async () => {
  const outputs: string[] = [];
  // Below this limit, Node itself crashes.
  for (let limit = 22; ; limit++) {
    const { output, code } = await serve(limit);
    if (output.startsWith("http://")) break;
    // As in other commands, a store that cannot be opened for a reason that passes is 6.
    const isStore = output.startsWith("error: the store");
    expect(code, output).toBe(isStore ? 6 : 1);
    const store =
      " cannot be opened, because this process has too many open files: raise its limit";
    expect(output).toContain(isStore ? store : "too many open files");
    expect(output).not.toContain("this is a bug in plantstore");
    expect(output).not.toContain("may or may not have been stored");
    outputs.push(output);
  }
  expect(outputs.join("\n")).toContain("error: the store");
});
