/** Memory settings of Node for tests that measure memory. */

/**
 * Environment of a process whose memory is measured. Later versions of V8 let the young generation grow to three times that of
 * Node 20 before they collect it; this is the size in Node 20.
 */
export const withYoungGenerationOfNode20 = { NODE_OPTIONS: "--max-semi-space-size=16" };
