/** A server that keeps the records of its requests. */
import type { RequestRecord } from "../../src/server/request.ts";
import { startServer } from "./plant-server.ts";

/** Starts a server whose member `records` has the record of each response. */
export async function startRecordedServer(options: Parameters<typeof startServer>[0] = {}) {
  const records: RequestRecord[] = [];
  const onResponse = (record: RequestRecord): void => void records.push(record);
  return { ...(await startServer({ onResponse, ...options })), records };
}
