/**
 * Opens a store while the process may open few more files, with one more each time until the store opens. Prints each outcome
 * on a line: "opened" or the error of the store. Argument: the file.
 */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { openSqliteEngine } from "../../../../src/store/sqlite/engine.ts";

const [, , path = ""] = process.argv;
// Loads what every store needs.
await (await openSqliteEngine(path)).close();

const files: number[] = [];

async function tryToOpen(free: number): Promise<string> {
  try {
    for (;;) files.push(openSync(devNull, "r"));
  } catch {
    for (const file of files.splice(0, free)) closeSync(file);
  }
  try {
    await (await openSqliteEngine(path)).close();
    return "opened";
  } catch (error) {
    return String(error);
  } finally {
    for (const file of files.splice(0)) closeSync(file);
  }
}

for (let free = 0, outcome = ""; outcome !== "opened"; free++) {
  outcome = await tryToOpen(free);
  console.log(outcome);
}
