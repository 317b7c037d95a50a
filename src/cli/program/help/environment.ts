/** The variables that help names and no option does. */
import type { Item } from "./command-help.ts";

/** Where the store is, unless an option says so. */
export const dataDirectory: Item = [
  "PLANTSTORE_DATA_DIR",
  'the data directory; "doctor" shows the usual one',
];

/** Where a login is kept. */
export const configDirectory: Item = [
  "PLANTSTORE_CONFIG_DIR",
  "the directory of saved tokens and settings",
];
