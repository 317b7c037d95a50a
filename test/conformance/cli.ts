/** Runs `npm run conform`. */
import { createProcessIo } from "../../src/cli/io.ts";
import { runConform } from "./conform.ts";

process.exitCode = await runConform(process.argv.slice(2), createProcessIo());
