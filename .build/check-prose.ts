/** Checks the English of comments, of texts in the code, and of the Markdown files. Prints each problem and its place. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { findProblems } from "./prose.ts";

// The test of this check contains bad examples.
const pathspecs = ["src", "test", ":!test/architecture/prose.test.ts", "bin", ".build", "*.md"];
const listed = execFileSync("git", ["ls-files", ...pathspecs], { encoding: "utf8" });
const paths = listed.split("\n").filter((path) => /\.(?:[jt]s|md)$/.test(path));
let count = 0;
for (const path of paths) {
  for (const { text, line } of findProblems(path, readFileSync(path, "utf8"))) {
    process.stderr.write(`${path}:${line} ${text}\n`);
    count++;
  }
}
process.stderr.write(`${count} problems in ${paths.length} files\n`);
process.exitCode = count === 0 ? 0 : 1;
