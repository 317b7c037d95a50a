/** The table of exit codes. They are never renumbered, because scripts depend on them. */

/** Every exit code of the command, with its text in help. */
export const exitCodes = {
  done: { code: 0, meaning: "Done" },
  internal: {
    code: 1,
    meaning: "Internal error, output could not be written, or serve could not start",
  },
  usage: { code: 2, meaning: "Wrong usage, or a local file or setting that cannot be read" },
  invalidPlant: { code: 3, meaning: "Invalid plant, found locally or by the server" },
  tokenRejected: { code: 4, meaning: "No token, or the server rejected it" },
  idTaken: { code: 5, meaning: "The id belongs to a different plant" },
  unavailable: { code: 6, meaning: "The server or the store is unavailable; a retry may succeed" },
  noPlantStore: { code: 7, meaning: "No plant store at this URL" },
  someMissing: { code: 8, meaning: "Some of several plants were not created" },
  noSuchPlant: { code: 9, meaning: "Unknown plant" },
  interrupted: { code: 130, meaning: "Stopped by SIGINT (Ctrl-C)" },
  outputClosed: { code: 141, meaning: "The output was closed before the end" },
  terminated: { code: 143, meaning: "Stopped by SIGTERM" },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

/** Exit codes of commands that send requests. */
export const requestExitCodes = [
  "done",
  "internal",
  "usage",
  "tokenRejected",
  "unavailable",
  "noPlantStore",
  "interrupted",
  "terminated",
] as const;

/** Exit codes of commands that open a store. */
export const storeExitCodes = ["done", "internal", "usage", "unavailable"] as const;

/** The name of a row of {@link exitCodes}. */
export type ExitCodeName = keyof typeof exitCodes;
