/** Where the script of a connection's thread is: a file of its own, beside the one into which this is built. */

/** Built from worker.ts. */
export const workerScript = new URL("./sqlite-worker.js", import.meta.url);
