/** The manual in the package: topics, which are Markdown files, and files to use as they are. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const extension = ".md";

/** The names of the topics; empty without the directory of the manual. */
export function listTopics(): readonly string[] {
  return listManual()
    .filter((file) => file.endsWith(extension))
    .map((file) => file.slice(0, -extension.length));
}

/** The names of the other files, such as `alerts.yaml`. */
export function listManualFiles(): readonly string[] {
  return listManual().filter((file) => !file.endsWith(extension));
}

function listManual(): readonly string[] {
  const directory = findManual();
  return directory === undefined ? [] : readdirSync(directory).toSorted();
}

/** A topic with a section of it. */
export interface Section {
  readonly topic: string;
  readonly heading: string;
}

/** Finds the sections with a word, or with several that follow each other: the best one of each topic, at most five. A heading with them counts more than the text. */
export function findSections(words: string): readonly Section[] {
  const wanted = toWords(words);
  const countIn = (text: string): number => toWords(text).split(wanted).length - 1;
  const found = listTopics().flatMap((topic) => {
    const sections = readManual(topic + extension).split(/^##? /m);
    const counts = sections.map((text) => {
      const [heading = ""] = text.split("\n", 1);
      return { topic, heading, count: 100 * countIn(heading) + countIn(text) };
    });
    return counts.toSorted((a, b) => b.count - a.count).slice(0, 1);
  });
  const matches = found.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count);
  return matches.slice(0, 5);
}

function toWords(text: string): string {
  return ` ${text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()} `;
}

/** The text of a topic, in Markdown without pictures; undefined for an unknown name. */
export function readTopic(name: string): string | undefined {
  if (!listTopics().includes(name)) return undefined;
  return readManual(name + extension).replaceAll(/^!\[.*\n\n/gm, "");
}

/** The text of another file of the manual; undefined for an unknown name. */
export function readManualFile(name: string): string | undefined {
  return listManualFiles().includes(name) ? readManual(name) : undefined;
}

function readManual(file: string): string {
  return readFileSync(join(findManual() ?? "", file), "utf8");
}

/** The sources and the built files are at different depths below the package. */
function findManual(start = import.meta.dirname): string | undefined {
  const path = join(start, "src/manual");
  if (existsSync(path)) return path;
  const parent = dirname(start);
  return parent === start ? undefined : findManual(parent);
}
