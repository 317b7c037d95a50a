/** Writes the manual page into dist/, where package.json names it. */
import { writeFileSync } from "node:fs";
import { createProcessIo } from "../src/cli/io.ts";
import { createProgram } from "../src/cli/program.ts";
import { toManPage } from "./man-page.ts";

const program = createProgram(createProcessIo(), { exitCode: 0 });
writeFileSync(new URL("../dist/plantstore.1", import.meta.url), toManPage(program));
