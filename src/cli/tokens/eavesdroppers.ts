/** Whether others on the way to a plant store can read what is sent. */
import { isLoopback } from "../loopback.ts";
import type { Reporter } from "../output/reporter.ts";

/** What to say when they can read the token; undefined when they can't. */
export function describeEavesdropping(baseUrl: string): string | undefined {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== "http:" || isLoopback(hostname)) return undefined;
  return `the token goes to ${baseUrl} unencrypted: use https where others listen`;
}

/** Warns when they can; to be called once in a command. */
export async function warnOfEavesdroppers(baseUrl: string, reporter: Reporter): Promise<void> {
  const warning = describeEavesdropping(baseUrl);
  if (warning !== undefined) await reporter.warning(warning);
}
