/** Names for requests: what a client gave, or else one of our own, by which an answer is found again in the log. */
import { randomBytes } from "node:crypto";

/** What is safe in a header, a log and a command line; nothing of it could be mistaken for a token of ours. */
const saneId = /^(?!.*pst_)[\w.:=+/@~-]{1,128}$/;

/** Different in each process, so that two servers' numbers are not mistaken for each other. */
const prefix = randomBytes(6).toString("hex");
let count = 0;

/** Whether an id that came with a request is taken as it is. */
export function isSaneRequestId(text: string): boolean {
  return saneId.test(text);
}

/** A new id. */
export function makeRequestId(): string {
  return `${prefix}-${(++count).toString(36)}`;
}
