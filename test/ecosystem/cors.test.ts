/** Requests of pages of other origins (CORS) in a browser. */
import { expect, it } from "vitest";
import { openScriptedServer } from "../client/scripted-server.ts";
import { findBrowser } from "../helpers/installed-programs.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { openBrowser } from "./open-browser.ts";

const create = {
  method: "POST",
  headers: { authorization: `Bearer ${testToken}`, "content-type": "application/json" },
  body: '{"id":1,"name":"fern"}',
};

// test/helpers/untested.ts reports when this test does not run.
it.skipIf(findBrowser() === undefined)(
  "lets exactly the pages of configured origins create plants and read responses in a browser",
  async () => {
    const pages = await openScriptedServer((response) => response.end("<!doctype html>"));
    const { port } = new URL(pages.url);
    const browser = await openBrowser();
    await using server = await startServer({ corsOrigins: [pages.url] });
    /** Sends a create and a rejected create from a page of an origin. Returns what the page can read. */
    async function createFrom(origin: string): Promise<unknown> {
      const opened = await browser.newPage();
      await opened.goto(origin);
      return opened.evaluate(
        async ({ url, init }) => {
          const seen: unknown[] = [];
          for (const body of [init.body, "{}"]) {
            const response = await fetch(`${url}/plants`, { ...init, body }).catch(String);
            if (typeof response === "string") return response;
            const requestId = response.headers.get("X-Request-Id");
            const result = response.headers.get("X-Plantstore-Result");
            seen.push([response.status, result, requestId !== null]);
          }
          return seen;
        },
        { url: server.url, init: create },
      );
    }
    try {
      expect(await createFrom(`http://localhost:${port}`)).toMatch(/^TypeError/);
      expect(await server.store.get(1n)).toBeUndefined();
      expect(await createFrom(pages.url)).toEqual([
        [200, "created", true],
        [400, null, true],
      ]);
    } finally {
      await browser.close();
    }
  },
);
