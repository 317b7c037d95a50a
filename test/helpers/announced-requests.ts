/** How many requests node:http has announced, and so made all its objects for. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { onTestFinished } from "vitest";

/** Counts them from now on, until the test ends. */
export function countAnnouncedRequests(): () => number {
  let count = 0;
  const onRequest = (): void => void count++;
  subscribe("http.server.request.start", onRequest);
  onTestFinished(() => void unsubscribe("http.server.request.start", onRequest));
  return () => count;
}
