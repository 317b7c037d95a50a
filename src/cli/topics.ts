/** The manual in the package: topics, which are Markdown files, and files to use as they are. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Item } from "./command.ts";

const manual = "src/manual";
const extension = ".md";
/** Paths in the package of the topics that are outside of the manual, by name. */
const otherTopics: ReadonlyMap<string, string> = new Map([["changelog", ".github/CHANGELOG.md"]]);

/** Topics that a reader follows from the top. The others are for looking something up. */
const guides: readonly string[] = ["try", "test", "nightly", "run"];

/** The names of all topics, with their titles. */
export function listTopics(): readonly Item[] {
  return [...listGuides(), ...listReference()];
}

export function listGuides(): readonly Item[] {
  return guides.map(withTitle);
}

export function listReference(): readonly Item[] {
  const files = listManual().filter((file) => file.endsWith(extension));
  const names = files.map((file) => file.slice(0, -extension.length));
  const all = [...names, ...otherTopics.keys()].toSorted();
  return all.filter((name) => !guides.includes(name)).map(withTitle);
}

function withTitle(name: string): Item {
  return [name, /^# (.*)/.exec(readTopic(name) ?? "")?.[1] ?? ""];
}

/** The names of the other files, such as `alerts.yaml`. */
export function listManualFiles(): readonly string[] {
  return listManual().filter((file) => !file.endsWith(extension));
}

/** The text of a topic, in Markdown, or of another file; undefined for an unknown name. Case does not matter. */
export function readTopic(word: string): string | undefined {
  const name = word.toLowerCase();
  const file = listManual().find((each) => each === name || each === name + extension);
  const path = file === undefined ? otherTopics.get(name) : join(manual, file);
  return path && readFileSync(join(findPackage(), path), "utf8");
}

function listManual(): readonly string[] {
  return readdirSync(join(findPackage(), manual)).toSorted();
}

/** The sources and the built files are at different depths below the package. */
function findPackage(start = import.meta.dirname): string {
  const isPackage = existsSync(join(start, manual)) || start === dirname(start);
  return isPackage ? start : findPackage(dirname(start));
}
