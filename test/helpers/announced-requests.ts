/** Counts the requests that node:http has parsed and created objects for. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { onTestFinished } from "vitest";

/** Starts to count until the test ends. Returns a function that returns the count. */
export function countAnnouncedRequests(): () => number {
  let count = 0;
  const onRequest = (): void => void count++;
  subscribe("http.server.request.start", onRequest);
  onTestFinished(() => void unsubscribe("http.server.request.start", onRequest));
  return () => count;
}
