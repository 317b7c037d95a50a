/** Checks the packages of the checkout, and what a create loads, against package.json. Prints the lines of source, too. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { findExcesses, measureWeight, toReport } from "./budget.ts";

const weight = await measureWeight();
const paths = readdirSync("src", { recursive: true, encoding: "utf8" });
const sources = paths.filter((path) => path.endsWith(".ts"));
const lines = sources.flatMap((path) => readFileSync(join("src", path), "utf8").match(/\n/g) ?? []);
process.stdout.write(toReport(weight, manifest.budget));
process.stdout.write(
  `${lines.length} lines in ${sources.length} files of src/**/*.ts (no budget)\n`,
);

const excesses = findExcesses(weight, manifest.budget);
for (const excess of excesses) process.stderr.write(`${excess}\n`);
process.exitCode = excesses.length === 0 ? 0 : 1;
