/** Whether others on the way to a plant store can read what is sent. */
import { isLoopback } from "../loopback.ts";
import type { Reporter } from "../output/reporter.ts";

/** Warns when they can read the token; to be called once in a command. */
export async function warnOfEavesdroppers(baseUrl: string, reporter: Reporter): Promise<void> {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== "http:" || isLoopback(hostname)) return;
  await reporter.warning(`the token goes to ${baseUrl} unencrypted: use https where others listen`);
}
