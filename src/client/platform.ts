/** A part of Node that a bulk create needs. The build for browsers has `platform.browser.ts` instead. */
// Not the global function, which tests may replace with a fake.
export { setImmediate as endOfTurn } from "node:timers/promises";
