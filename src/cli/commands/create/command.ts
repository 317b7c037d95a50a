/** Declares `create`. */
import {
  type CommandBody,
  describeVariables,
  serverFlagAdvice,
  tokenAdvice,
} from "../../command.ts";
import { exitCodes, requestExitCodes } from "../../command-error.ts";
import { createOptions, plantFlagList, plantOptions } from "../../options/remote.ts";

export const createCommand: CommandBody = {
  description: `Creates plants: one from ${plantFlagList}, or those in files and standard input,
as JSON, or as a table if named .csv or .tsv. Prints the Plant or the Error of one
plant, and a line of JSON for each record of a file of records; --json prints
lines always. You can run it again: what exists stays as it is.`,
  options: { ...plantOptions, ...createOptions },
  examples: [
    "plantstore create --id 1 --name fern --tag pot",
    "plantstore create plants.csv --quiet --rejects rejects.csv",
    "tail -f plants.log | plantstore create --json -",
  ],
  environment: describeVariables("PLANTSTORE_TOKEN"),
  exitCodes: {
    ...requestExitCodes,
    invalidPlant: "Invalid plant, found here or by the server",
    idTaken: exitCodes.idTaken.meaning,
    someMissing: "Some of several plants were not created",
  },
  tokenAdvice,
  flagAdvice: serverFlagAdvice,
  async run(run) {
    const { CreateRun } = await import("./create-run.ts");
    const createRun = new CreateRun(run);
    const { url, isDryRun, isQuiet } = createRun.options;
    try {
      if (!isDryRun && !isQuiet) await run.terminal.namePlace("Server", url);
      if (createRun.options.paths.length === 0) {
        const { sendFromFlags } = await import("./create-one.ts");
        return await sendFromFlags(createRun);
      }
      // Most of the code.
      const { sendFromInputs } = await import("./create-many.ts");
      return await sendFromInputs(createRun);
    } catch (error) {
      const { toCommandError } = await import("../../command-failure.ts");
      throw toCommandError(error, run);
    } finally {
      createRun.release();
    }
  },
};
