/** Node as a test of memory has it. */

/**
 * The environment for a process whose memory is measured: later versions of V8 let the young generation grow to three
 * times that of Node 20 before they collect it, whatever the program holds. This is what Node 20 takes.
 */
export const withYoungGenerationOfNode20 = { NODE_OPTIONS: "--max-semi-space-size=16" };
