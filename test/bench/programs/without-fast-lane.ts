/**
 * Runs the server of `plantstore serve` with every request sent through node:http. The log, the limits and the store are
 * those of `plantstore serve`, so that the fast lane is the only difference.
 */
import { createAuthenticator } from "../../../src/auth/authenticator.ts";
import { createProcessIo } from "../../../src/cli/io.ts";
import { openLogOutput } from "../../../src/cli/commands/serve/log-output.ts";
import { createLog, jsonFormat } from "../../../src/server/log.ts";
import { checkOptions } from "../../../src/library/client-options.ts";
import { limitOptions, storeOptions } from "../../../src/library/store-options.ts";
import { openPlantServer } from "../../../src/server/server.ts";
import { openStore } from "../../../src/store/open-store.ts";

const shutdownTimeoutMs = 10_000;

const [storeUrl, token] = process.argv.slice(2);
if (storeUrl === undefined || token === undefined) {
  throw new Error("usage: without-fast-lane.js STORE TOKEN");
}

const output = openLogOutput(createProcessIo().log, () => {});
const log = createLog(jsonFormat, "info", output.write);
const store = await openStore(storeUrl);
const authenticator = createAuthenticator(store, { ownToken: token });
const server = await openPlantServer({
  ...checkOptions(storeOptions, {}),
  ...checkOptions(limitOptions, {}),
  fastLane: false,
  onError: (error) => log.error(error),
  onResponse: (record) => log.request(record),
});
server.start({ store, authenticator });
process.stdout.write(`${server.url}\n`);

async function stop(): Promise<void> {
  await server.close(shutdownTimeoutMs);
  await authenticator.flushUses();
  await store.close();
  await output.close();
}
process.on("SIGTERM", () => void stop());
