/** Lets load balancers notice that a server is about to stop. */
import { setTimeout as sleep } from "node:timers/promises";
import { limitOptions } from "../../../library/options.ts";
import type { PlantServer } from "../../../server/server.ts";
import type { ServerRun } from "./serve-options.ts";

/** Is not ready for the time of `--drain`, in which requests are still accepted. */
export async function drain(
  server: Pick<PlantServer, "drain">,
  { log, readStopTimes }: Pick<ServerRun, "log" | "readStopTimes">,
): Promise<void> {
  const { drainMs } = readStopTimes();
  if (drainMs === 0) return;
  server.drain();
  const seconds = limitOptions.drainMs.type.format(drainMs);
  log.message("info", `Draining for ${seconds} s: not ready, but requests are still accepted`);
  await sleep(drainMs);
}
