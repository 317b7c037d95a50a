/** `serve --reuse-port`: several processes share a port and a store. */
import { expect, it } from "vitest";
import { mintToken } from "../../src/auth/authenticator.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { findFreePort } from "../helpers/postgres-server.ts";
import { runBinary, startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isSupported = process.platform === "linux" && (major > 22 || (major === 22 && minor >= 12));
const args = ["serve", "--reuse-port"];

it.runIf(isSupported)("lets two processes share a port and a store", async () => {
  const home = await createTemporaryDirectory();
  const token = mintToken();
  const env = { PLANTSTORE_TOKEN: token, PLANTSTORE_PORT: `${await findFreePort()}` };
  const first = startBinary(args, { home, env });
  const url = await first.firstLine;
  const second = startBinary(args, { home, env });
  expect(await second.firstLine).toBe(url);
  let id = 0;
  // The start of a request id names the process. The kernel chooses it by the port of the client.
  const create = async () => {
    const connection = { headers: { connection: "close" } };
    const response = await postPlant(url, token, { id: ++id, name: "fern" }, connection);
    expect(response.status).toBe(200);
    return response.headers.get("x-request-id")?.split("-")[0];
  };
  const processes = new Set<string | undefined>();
  while (processes.size < 2) processes.add(await create());
  first.child.kill("SIGTERM");
  expect(await first.finished).toMatchObject({ code: 0 });
  expect([...processes]).toContain(await create());
  const { stdout } = await runBinary(["list", "--count"], { home });
  expect(stdout.trim()).toBe(String(id));
});

it.runIf(isSupported)(
  "fails to start on the port of a process that does not share it",
  async () => {
    const home = await createTemporaryDirectory();
    const env = { PLANTSTORE_PORT: `${await findFreePort()}` };
    await startBinary(["serve"], { home, env }).firstLine;
    const { code, stderr } = await runBinary(args, { home, env });
    expect(code).toBe(1);
    expect(stderr).toContain("by a process without --reuse-port");
  },
);

it.runIf(!isSupported)("is an error where it is not supported", async () => {
  const home = await createTemporaryDirectory();
  const env = { PLANTSTORE_PORT: `${await findFreePort()}` };
  const { code, stderr } = await runBinary(args, { home, env });
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/needs Node\.js 22\.12|does not support/);
});
