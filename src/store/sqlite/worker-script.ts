/** Path of the script of a connection's thread: a file in the directory into which this is built. */

/** Built from worker.ts. A bundler can leave `import.meta.dirname` undefined. */
export const workerScript = `${import.meta.dirname}/sqlite-worker.js`;
