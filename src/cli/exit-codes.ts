/** The one table of exit codes. Never renumbered: scripts decide by them. */

interface ExitCodeRow {
  readonly code: number;
  /** As help explains it. */
  readonly meaning: string;
}

/** Every exit code of the command. */
export const exitCodes = {
  done: { code: 0, meaning: "done" },
  internal: { code: 1, meaning: "an internal error, full output, or serve could not start" },
  usage: { code: 2, meaning: "wrong usage, or a local file or setting that can't be read" },
  invalidPlant: { code: 3, meaning: "not a valid plant, found here or by the server" },
  tokenRefused: { code: 4, meaning: "no token, or it was refused" },
  idTaken: { code: 5, meaning: "the id belongs to another plant" },
  unavailable: { code: 6, meaning: "unavailable; worth another try" },
  notAPlantStore: { code: 7, meaning: "no plant store answers at this URL" },
  someMissing: { code: 8, meaning: "some of many plants were not created" },
  noSuchPlant: { code: 9, meaning: "no such plant" },
  interrupted: { code: 130, meaning: "stopped by SIGINT (Ctrl-C)" },
  outputClosed: { code: 141, meaning: "the output was closed before the end" },
  terminated: { code: 143, meaning: "stopped by SIGTERM" },
} as const satisfies Record<string, ExitCodeRow>;

/** The name of a row of {@link exitCodes}. */
export type ExitCodeName = keyof typeof exitCodes;
