/** Writes into dist/ what the command tree says since the build: the manual page, which package.json names, and the overview. */
import { writeFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import type { Invocation } from "../src/cli/invocation.ts";
import { createProcessIo } from "../src/cli/io.ts";
import { createProgram } from "../src/cli/program/program.ts";
import { toManPage } from "./man-page.ts";

const invocation: Invocation = { exitCode: 0 };
// No terminal: as wide as help ever is.
const program = createProgram({ ...createProcessIo(), stdout: new PassThrough() }, invocation);
program.outputHelp();

writeFileSync(new URL("../dist/plantstore.1", import.meta.url), toManPage(program));
writeFileSync(new URL("../dist/overview.txt", import.meta.url), invocation.help ?? "");
