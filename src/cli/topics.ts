/** The manual in the package: topics, which are Markdown files, and files to use as they are. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const extension = ".md";

/** The names of the topics. */
export function listTopics(): readonly string[] {
  const files = listManual().filter((file) => file.endsWith(extension));
  return files.map((file) => file.slice(0, -extension.length));
}

/** The names of the other files, such as `alerts.yaml`. */
export function listManualFiles(): readonly string[] {
  return listManual().filter((file) => !file.endsWith(extension));
}

/** The text of a topic, in Markdown, or of another file; undefined for an unknown name. */
export function readTopic(name: string): string | undefined {
  const file = listManual().find((each) => each === name || each === name + extension);
  return file && readFileSync(join(findManual(), file), "utf8");
}

function listManual(): readonly string[] {
  return readdirSync(findManual()).toSorted();
}

/** The sources and the built files are at different depths below the package. */
function findManual(start = import.meta.dirname): string {
  const path = join(start, "src/manual");
  return existsSync(path) || start === dirname(start) ? path : findManual(dirname(start));
}
