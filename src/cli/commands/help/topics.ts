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

/**
 * Finds the sections that have every word of a query: the best one of each topic, at most five. Sections with all words in
 * their heading and the name of their topic are first, then those where the words follow each other.
 *
 * @param isStrict finds no other sections than these
 */
export function findSections(query: string, isStrict: boolean): readonly Section[] {
  const wanted = toWords(query);
  const found = listTopics().flatMap((topic) => {
    const sections = readManual(topic + extension).split(/^##? /m);
    const ranked = sections.map((text) => {
      const [heading = ""] = text.split("\n", 1);
      return {
        topic,
        heading,
        rank: toRank(wanted, toWords(`${topic} ${heading}`), toWords(text)),
      };
    });
    return ranked.toSorted((a, b) => b.rank - a.rank).slice(0, 1);
  });
  const matches = found
    .filter(({ rank }) => rank > (isStrict ? 1 : 0))
    .toSorted((a, b) => b.rank - a.rank);
  return matches.slice(0, 5);
}

/** Returns how well a section fits to a query; 0 if a word is missing. */
function toRank(
  wanted: readonly string[],
  title: readonly string[],
  text: readonly string[],
): number {
  const isTitle = wanted.every((word) => title.includes(word));
  if (wanted.length === 0 || !(isTitle || wanted.every((word) => text.includes(word)))) return 0;
  const count = text.filter((word) => wanted.includes(word)).length;
  const phrases = ` ${text.join(" ")} `.split(` ${wanted.join(" ")} `).length - 1;
  return (isTitle ? 1000 : 0) + phrases + count / text.length;
}

/** The words of a text in lower case, the plural as the singular. */
function toWords(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => word.replace(/(?<=..)s$/, ""));
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
