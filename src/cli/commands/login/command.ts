/** Declares the commands for the user of a plant store: `login` and `logout`. */
import { type CommandBody, curlAdvice, describeVariables } from "../../command.ts";
import { requestExitCodes } from "../../exit-codes.ts";
import { requestOptions, urlOption } from "../../options.ts";

const tokenAdvice = `run "plantstore login", which asks for it`;
const configDirectory = describeVariables("PLANTSTORE_CONFIG_DIR");

/** `plantstore login`. */
export const loginCommand: CommandBody = {
  description: `Saves a token for a plant store and makes that plant store the default. Reads
the token from a prompt that does not show it, or from standard input. Checks
first whether the token works, without creating a plant. The token is never sent
to another origin.`,
  options: requestOptions,
  examples: [
    "plantstore login",
    "plantstore login --url https://plants.example.org/v1",
    "plantstore login < plants.token",
    "plantstore token issue | plantstore login",
  ],
  environment: configDirectory,
  exitCodes: requestExitCodes,
  tokenAdvice,
  hints: {
    "--token-file": "pass the file on standard input, as in plantstore login < FILE",
    "--print-curl": curlAdvice,
  },
  run: async (run) => (await import("./login.ts")).login(run),
};

/** `plantstore logout`. */
export const logoutCommand: CommandBody = {
  description: `Removes the saved token for a plant store from this machine: without --url, that
of the default. The last login is then no longer the default, and a further
"plantstore logout" removes nothing until the next login. The token stays valid
until it expires or is revoked with "plantstore token revoke".`,
  options: urlOption,
  examples: ["plantstore logout", "plantstore logout --url https://plants.example.org/v1"],
  environment: configDirectory,
  exitCodes: ["done", "internal", "usage"],
  tokenAdvice,
  run: async (run) => (await import("./login.ts")).logout(run),
};
