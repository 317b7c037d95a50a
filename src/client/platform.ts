/** Parts of Node that a bulk create needs. The build for browsers has `platform.browser.ts` instead. */
export { setMaxListeners } from "node:events";
export { setImmediate as endOfTurn } from "node:timers/promises";
