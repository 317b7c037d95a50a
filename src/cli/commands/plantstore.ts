/** Declares `plantstore`, with all of its commands. */
import type { Command } from "../command.ts";
import { backupCommand, restoreCommand, verifyCommand } from "./backup/command.ts";
import { candidatesCommand, completionCommand } from "./completion/command.ts";
import { createCommand, tokenAdvice } from "./create/command.ts";
import { deleteCommand } from "./delete/command.ts";
import { doctorCommand } from "./doctor/command.ts";
import { explainCommand } from "./explain/command.ts";
import { helpCommand } from "./help/command.ts";
import { loginCommand, logoutCommand } from "./login/command.ts";
import { openApiCommand } from "./openapi/command.ts";
import { exportCommand, getCommand, listCommand } from "./read/command.ts";
import { pingCommand } from "./ping/command.ts";
import { serveCommand } from "./serve/command.ts";
import { statusCommand } from "./status/command.ts";
import { tokenCommand } from "./token/command.ts";

const toHints = (words: readonly string[], hint: string) =>
  Object.fromEntries(words.map((word) => [word, hint]));

/** `plantstore`. */
export const plantstoreCommand: Command = {
  name: "plantstore",
  summary: "Durable store of plants",
  description: "Stores plants durably behind an HTTP service, and sends plants to it.",
  examples: [
    "plantstore serve                      start a plant store",
    "plantstore create --id 1 --name fern  create a plant in it",
    "plantstore list                       show the plants in it",
    "plantstore create --help              explain a command",
  ],
  environment: [
    ["NO_COLOR, FORCE_COLOR", "Disable colour, or use it everywhere"],
    ["PAGER", "Program that shows topics on a terminal; cat for none (default: less)"],
  ],
  exitCodes: ["done", "internal", "usage"],
  exitCodesNote: 'See "plantstore COMMAND --help" for those of a command.',
  tokenAdvice,
  commands: [
    serveCommand,
    createCommand,
    loginCommand,
    logoutCommand,
    statusCommand,
    pingCommand,
    listCommand,
    getCommand,
    exportCommand,
    deleteCommand,
    tokenCommand,
    backupCommand,
    verifyCommand,
    restoreCommand,
    doctorCommand,
    explainCommand,
    openApiCommand,
    completionCommand,
    helpCommand,
    candidatesCommand,
  ],
  hints: {
    auth: `"plantstore login" saves a token`,
    config: `"plantstore status" shows settings, their sources and the directories`,
    version: `"plantstore --version" prints the version`,
    import: `"plantstore create FILE" creates the plants of a file`,
    ...toHints(["post", "add", "insert", "new"], `"plantstore create" creates plants`),
    ...toHints(["rm", "remove"], `"plantstore delete" deletes plants from a store`),
    ...toHints(["show"], `"plantstore get ID" prints a plant, and "plantstore list" prints all`),
    ...toHints(["ls"], `"plantstore list" prints plants, and "plantstore get ID" prints one`),
    health: `"plantstore ping" checks whether a plant store is ready`,
    update: `"plantstore serve --on-conflict replace" lets creates replace plants`,
    ...toHints(["init", "start", "run"], `"plantstore serve" starts a plant store`),
  },
};
