/** What a client takes for a ready plant store. */
import { expect, it } from "vitest";
import { checkReadiness } from "../../src/client/probe.ts";
import { json, openScriptedServer } from "./scripted-server.ts";

it.each([
  ['{"status":"ready"}', { state: "ready", isVolatile: false }],
  ['{"status":"ready","store":"memory"}', { state: "ready", isVolatile: true }],
  [
    '{ "version": [2], "store": "sqlite", "status": "ready" }',
    { state: "ready", isVolatile: false },
  ],
  ['{"status":"starting"}', { state: "unknown" }],
  ['"ready"', { state: "unknown" }],
  ["null", { state: "unknown" }],
  ["ready", { state: "unknown" }],
])("the body %s of /readyz says %o", async (body, readiness) => {
  const { url } = await openScriptedServer(json(200, body));
  const { signal } = new AbortController();
  expect(await checkReadiness({ baseUrl: url, timeoutMs: 5000, signal })).toEqual(readiness);
});
