/** Path of the script that is built from store-changer.ts for a run of the tests (see vitest.config.ts). */
export const storeChangerScript = `${import.meta.dirname}/store-changer.js`;
