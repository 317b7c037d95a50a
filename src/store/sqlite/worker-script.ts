/** Where the script of a connection's thread is: a file of its own, beside the one into which this is built. */

import { join } from "node:path";

/** Built from worker.ts. */
export const workerScript = join(import.meta.dirname, "sqlite-worker.js");
