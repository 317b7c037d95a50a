/** How the tests run: every *.test.ts below test/, on real sockets, files and processes. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import { type Bundle, bundle, sqliteWorker } from "./store/sqlite/bundle.ts";

const workerScriptSource = fileURLToPath(
  new URL("../src/store/sqlite/worker-script.ts", import.meta.url),
);

/** A thread runs a file, not what vitest makes of a source: it gets one that is built once for the run. */
function builtSqliteWorker(): Plugin {
  let building: Promise<Bundle> | undefined;
  return {
    name: "built-sqlite-worker",
    async load(id) {
      if (id !== workerScriptSource) return undefined;
      building ??= bundle(sqliteWorker);
      const { directory } = await building;
      const path = join(directory, "sqlite-worker.js");
      return `export const workerScript = ${JSON.stringify(path)};`;
    },
    async closeBundle() {
      await (await building)?.remove();
    },
  };
}

/** Tests of the server that run through each of its transports, plain and over TLS. */
const transportTests = [
  "test/server/contract.test.ts",
  "test/server/overload.test.ts",
  "test/server/request-id.test.ts",
  "test/server/http/{connection,framing,pipelining,stop,timeouts}.test.ts",
];

export default defineConfig({
  plugins: [builtSqliteWorker()],
  test: {
    globalSetup: ["test/helpers/untested.ts"],
    // A condition that is waited for comes late on a busy machine.
    expect: { requireAssertions: true, poll: { timeout: 20_000 } },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      toProject("plantstore", ["test/**/*.test.ts"], { fastLane: true, tls: false }),
      toProject("node:http", ["test/server/**/*.test.ts"], { fastLane: false, tls: false }),
      toProject(
        "TLS",
        [...transportTests, "test/server/http/{differential,random-pipelines}.test.ts"],
        {
          fastLane: true,
          tls: true,
        },
      ),
      toProject("node:http over TLS", transportTests, { fastLane: false, tls: true }),
    ],
  },
});

function toProject(
  name: string,
  include: string[],
  transport: { readonly fastLane: boolean; readonly tls: boolean },
) {
  // The certificates of the tests are self-signed.
  const env = transport.tls ? { NODE_TLS_REJECT_UNAUTHORIZED: "0" } : {};
  return { extends: true as const, test: { name, include, env, provide: { transport } } };
}
