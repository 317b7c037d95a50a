/** Units of time and of sizes. */

/** Milliseconds of each unit of time. */
export const msPerUnit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Bytes of each unit of sizes. */
export const bytesPerUnit = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;
