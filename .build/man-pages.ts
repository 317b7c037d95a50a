/** Writes the manual pages of the command and of each topic. */
import { writeFileSync } from "node:fs";
import { listTopics, readTopic } from "../src/cli/commands/help/topics.ts";
import { plantstoreCommand } from "../src/cli/commands/plantstore.ts";
import { toManPage } from "./man-page.ts";
import { toTopicPage } from "./topic-page.ts";

/** Writes the page of the command, and a page for each topic of the manual. */
export function writeManPages(directory: string): void {
  const topics = listTopics();
  writeFileSync(`${directory}/plantstore.1`, toManPage(plantstoreCommand, topics));
  for (const topic of topics) {
    const page = toTopicPage(topic, readTopic(topic) ?? "");
    writeFileSync(`${directory}/plantstore-${topic}.7`, page);
  }
}
