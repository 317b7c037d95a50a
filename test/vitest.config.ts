/** How the tests run: every *.test.ts below test/, on real sockets, files and processes. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import { type Bundle, bundle } from "./store/sqlite/bundle.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Scripts of threads, and the modules with their paths. A thread runs a file, not what vitest makes of a source. */
const threadScripts = [
  {
    module: "src/store/sqlite/worker-script.ts",
    constant: "workerScript",
    script: "src/store/sqlite/worker.ts",
  },
  {
    module: "test/helpers/store-changer-script.ts",
    constant: "storeChangerScript",
    script: "test/helpers/store-changer.ts",
  },
];

/** Builds the scripts of threads once for the run. */
function builtThreadScripts(): Plugin {
  const entry = Object.fromEntries(threadScripts.map(({ constant, script }) => [constant, script]));
  let building: Promise<Bundle> | undefined;
  return {
    name: "built-thread-scripts",
    async load(id) {
      const found = threadScripts.find(({ module }) => join(root, module) === id);
      if (found === undefined) return undefined;
      building ??= bundle(entry);
      const path = join((await building).directory, `${found.constant}.js`);
      return `export const ${found.constant} = ${JSON.stringify(path)};`;
    },
    async closeBundle() {
      await (await building)?.remove();
    },
  };
}

/**
 * Tests that `npm test` leaves out and `npm run test:all` runs. The quick lane keeps one
 * file each of the tests of the built command and of PostgreSQL.
 */
const slowTests = [
  "test/e2e/!(first-steps|start|crash|many-plants).test.ts",
  "test/store/postgres/!(engine).test.ts",
  "test/store/sqlite/{backup,power,processes,restore}.test.ts",
  "test/ecosystem/*.test.ts",
  "test/server/{faults,operations,http/{connection,differential,random-pipelines,stop,timeouts}}.test.ts",
  "test/client/{create-plants,http-pool}.test.ts",
  // Changes the table of errors, which other files would see without isolation.
  "test/architecture/error-rows.test.ts",
  "test/cli/{cacert,commands/read/export}.test.ts",
  "test/conformance/{conform,one-fault,wrong-servers}.test.ts",
];

/** Runs each file in a vm context of its own, as Jest does. */
const vmContexts = {
  pool: "vmThreads" as const,
  setupFiles: ["test/helpers/dispose-symbols.ts"],
};

/** Slow tests that measure memory or use every core: one file after the other, once all others have ended. */
const aloneTests = [
  "test/e2e/many-plants.test.ts",
  "test/cli/commands/create/random-records.test.ts",
];

/** Tests of the server that run through each of its transports, plain and over TLS. */
const transportTests = [
  "test/server/overload.test.ts",
  "test/server/http/stop.test.ts",
  "test/conformance/{rules,all-operations}.test.ts",
];

export default defineConfig({
  plugins: [builtThreadScripts()],
  test: {
    globalSetup: ["test/helpers/untested.ts"],
    // A condition that is waited for comes late on a busy machine.
    expect: { requireAssertions: true, poll: { timeout: 20_000 } },
    // More than cores, because many tests wait for a disk, a socket or a clock. The default leaves one core idle.
    maxWorkers: availableParallelism() + 1,
    // Generous: properties with many cases take a minute on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      // The quick lane: `npm test`.
      toProject("plantstore", ["test/**/*.test.ts"], {
        exclude: [...slowTests, ...aloneTests, "**/node_modules/**"],
        crashRounds: 1,
        // Loading the modules for each file takes a third of the time.
        isolate: false,
      }),
      toProject("slow", [...slowTests, "test/e2e/crash.test.ts"]),
      toProject("alone", aloneTests, { isAlone: true }),
      toProject("node:http", transportTests, { fastLane: false }),
      // Compares the lane with node:http itself.
      toProject("TLS", [...transportTests, "test/server/http/differential.test.ts"], {
        tls: true,
      }),
      // As Jest runs its tests: errors that Node throws are of another realm.
      toProject("vm contexts", ["test/library/*.test.ts"], { isVm: true }),
      toProject("node:http over TLS", transportTests, {
        fastLane: false,
        tls: true,
      }),
      // Tests above the syntax of HTTP, without a socket.
      toProject("fetch", ["test/conformance/rules.test.ts", "test/server/cors.test.ts"], {
        fetch: true,
      }),
    ],
  },
});

function toProject(
  name: string,
  include: string[],
  {
    exclude = [] as string[],
    crashRounds = 20,
    isolate = true,
    fastLane = true,
    tls = false,
    fetch = false,
    isAlone = false,
    isVm = false,
  } = {},
) {
  // The certificates of the tests are self-signed.
  const env = tls ? { NODE_TLS_REJECT_UNAUTHORIZED: "0" } : {};
  const provide = { transport: { fastLane, tls, fetch }, crashRounds };
  // Without exclude, those of the command line count.
  const alone = isAlone && { maxWorkers: 1, sequence: { groupOrder: 1 } };
  const excluded = exclude.length > 0 && { exclude };
  const test = { name, include, env, provide, isolate, ...excluded, ...alone };
  return { extends: true as const, test: { ...test, ...(isVm && vmContexts) } };
}
