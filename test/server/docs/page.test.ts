/** The page: its paths, its security policy and its contents. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { contractOperations, operations } from "../../../src/core/contract.ts";
import { errorTable, listErrorKinds } from "../../../src/core/errors.ts";
import { toPageResponse } from "../../../src/server/docs/page.ts";
import { getText } from "../../helpers/get-text.ts";
import { startServer } from "../../helpers/plant-server.ts";

/** Returns the text of an element as a browser would copy it. */
function findCommand(page: string, id: string): string {
  const [, html = ""] = new RegExp(`<pre id="${id}">([^]*?)</pre>`).exec(page) ?? [];
  const text = html.replace(/<[^>]*>/g, "");
  const entities = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return Object.entries(entities)
    .toReversed()
    .reduce((unescaped, [name, character]) => unescaped.replaceAll(`&${name};`, character), text);
}

const html = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };
const described = {
  url: "http://127.0.0.1:7526/v1",
  basePath: "/v1",
  maxBodyBytes: 4096,
  onConflict: "reject",
} as const;

describe("the server shows the page", () => {
  it("at /docs, and at / to a browser, with any base path", async () => {
    await using server = await startServer({ basePath: "/v1" });
    const { origin } = new URL(server.url);
    for (const response of [await fetch(`${origin}/docs`), await fetch(`${origin}/`, html)]) {
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(await response.text()).toContain(`curl ${server.url}/plants`);
    }
  });

  it("with links to its parts, and every path without a token", async () => {
    await using server = await startServer();
    const page = await (await fetch(`${server.url}/docs`)).text();
    const links = [...page.matchAll(/<a href="#([^"]+)"/g)].map(([, anchor]) => anchor);
    expect(links).toEqual(["form", "operation", "errors", "others"]);
    for (const anchor of links) expect(page).toContain(` id="${anchor}"`);
    for (const { path } of Object.values(operations)) {
      if (
        path.startsWith(operations.create.path) ||
        path === operations.page.path ||
        path === operations.metrics.path
      ) {
        continue;
      }
      expect(page).toContain(`<code>GET ${path}</code>`);
      expect((await fetch(server.url + path)).status).toBe(200);
    }
  });

  it("not at / to a program, and only for GET and HEAD", async () => {
    await using server = await startServer();
    expect((await fetch(`${server.url}/`)).status).toBe(404);
    expect((await fetch(`${server.url}/`, { ...html, method: "POST" })).status).toBe(404);
    expect((await fetch(`${server.url}/docs`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`${server.url}/docs`, { method: "HEAD" })).status).toBe(200);
  });

  it.each(["http://localhost", "HTTP://localhost?x"])(
    "to a browser that sends the target %s",
    async (path) => {
      await using server = await startServer();
      const asked = await getText(server.port, path, { host: "localhost", accept: "text/html" });
      expect(asked.status).toBe(200);
      expect((await getText(server.port, path, { host: "localhost" })).status).toBe(404);
    },
  );

  it("which promises durability only if the store is durable", async () => {
    await using server = await startServer();
    const read = async (path: string): Promise<string> => (await fetch(server.url + path)).text();
    const [page, document] = [await read("/docs"), await read("/openapi.json")];
    expect(page.replace(/\s+/g, " ")).toContain("stored in memory, until the server stops.");
    expect(document).toContain("the plant is in memory, until the server stops.");
    expect(page + document).not.toMatch(/durabl|flushed/);
    const durable = toPageResponse(described).body.replace(/\s+/g, " ");
    expect(durable).toContain("stores a plant durably");
  });

  it("nowhere if it is turned off", async () => {
    await using server = await startServer({ docs: false });
    expect((await fetch(`${server.url}/docs`, html)).status).toBe(404);
    expect((await fetch(`${server.url}/`, html)).status).toBe(404);
  });

  it("only under names of the server", async () => {
    await using server = await startServer({ publicUrl: "https://plants.example.org" });
    const read = async (host: string) => (await getText(server.port, "/docs", { host })).status;
    expect(await Promise.all(["localhost", "plants.example.org"].map(read))).toEqual([200, 200]);
    expect(await read("rebound.example")).toBe(404);
  });
});

describe("the page", () => {
  const { body, headers } = toPageResponse(described);

  it("is smaller than 30 kB", () => {
    expect(Buffer.byteLength(body)).toBeLessThan(30_000);
  });

  it("allows only its own style and script, and requests to its server", () => {
    const policy = new Map(headers).get("Content-Security-Policy") ?? "";
    expect(policy.split("; ").slice(0, 2)).toEqual(["default-src 'none'", expect.any(String)]);
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    const inline = [...body.matchAll(/<(script|style)[^>]*>([^]*?)<\/\1>/g)];
    expect(inline.map(([, element]) => element)).toEqual(["style", "script"]);
    for (const [, , text = ""] of inline) {
      const digest = createHash("sha256").update(text).digest("base64");
      expect(policy).toContain(`'sha256-${digest}'`);
    }
    expect(body).not.toMatch(/ (?:src|href)="page/);
  });

  it("lists every error, and the members of every schema", () => {
    for (const kind of listErrorKinds(described)) {
      const { error, when } = errorTable[kind];
      expect(body).toContain(
        `<tr id="error-${error}"><th scope="row">${error}</th><td>${when.replaceAll("'", "&#39;")}`,
      );
    }
    const rows = [...body.matchAll(/<code>(\w+)<\/code><\/th><td>([^<]+)</g)];
    expect(rows.map(([, ...cells]) => cells.join(" "))).toEqual([
      "id integer, int64, required",
      "name string, required",
      "tag string, optional",
      "name string, required",
      "tag string, optional",
      "error integer, int32, required",
      "message string, required",
    ]);
  });

  it("describes the options of the server", () => {
    expect(body.replace(/\s+/g, " ")).toContain("at most 4,096 bytes");
    expect(body.replace(/\s+/g, " ")).toContain("is rejected with 40900");
    const replacing = toPageResponse({ ...described, onConflict: "replace" }).body;
    expect(replacing).toContain("replaces the stored plant");
    expect(body).not.toContain("<code>replaced</code>");
    expect(replacing).toContain("<code>replaced</code>");
    expect(replacing).not.toContain('id="error-40900"');
    expect(body).toContain('<h2 id="operation">POST /v1/plants</h2>');
    expect(body).toContain("Every failed create has the status 400");
  });

  it.each(["http://127.0.0.1:7526/v1", "http://[::1]:7526", `http://a/';$(id)"\`id\` <&`])(
    "has commands that send a plant to %s and do nothing else",
    async (url) => {
      const page = toPageResponse({ ...described, url }).body;
      for (const [id, expected] of [
        ["curl", [`${url}/plants`]],
        ["plantstore", ["create", "--url", url, "--id", "1", "--name", "fern"]],
      ] as const) {
        const script = `${id}() { printf '%s\\0' "$@"; }; ${findCommand(page, id)}`;
        const { stdout } = await promisify(execFile)("sh", ["-c", script]);
        expect(stdout.split("\0").slice(0, expected.length)).toEqual(expected);
      }
    },
  );

  it("of a server with all operations describes them, lists plants, and shows what the operator says", () => {
    const notice = "A demonstration: <everybody> can use it.";
    const whole = toPageResponse({ ...described, operations: "all", notice });
    const links = [...whole.body.matchAll(/<a href="#([a-z]+)"/g)].map(([, anchor]) => anchor);
    for (const anchor of links) expect(whole.body).toContain(` id="${anchor}"`);
    const sections = [...whole.body.matchAll(/<h2 id="([a-z]+)"/g)].map(([, anchor]) => anchor);
    expect(links).toEqual(sections);
    const headings = whole.body.replaceAll(/<[^>]*>/g, "");
    for (const id of contractOperations.all) {
      const { method, path } = operations[id];
      expect(headings).toContain(`${method} /v1${path}\n`);
    }
    expect(whole.body).toContain('<h2 id="delete">DELETE /v1/plants/{id}</h2>');
    expect(whole.body).toContain('id="error-40401"');
    expect(whole.body).toContain("<p>A demonstration: &lt;everybody&gt; can use it.</p>");
    expect(whole.body).not.toContain("one operation");
    const policy = new Map(whole.headers).get("Content-Security-Policy") ?? "";
    const scripts = [...whole.body.matchAll(/<script type="module">([^]*?)<\/script>/g)];
    expect(scripts).toHaveLength(1);
    for (const [, text = ""] of scripts) {
      const digest = createHash("sha256").update(text).digest("base64");
      expect(policy).toContain(`'sha256-${digest}'`);
    }
    for (const part of ["<!--", "{{", 'id="error-40401"', "plants.browser"]) {
      expect(body).not.toContain(part);
    }
  });

  it("has the same HTML elements for any URL", () => {
    const count = (text: string): number => text.split("<").length;
    const url = `http://127.0.0.1/"'><script>alert(1)</script>&`;
    expect(count(toPageResponse({ ...described, url }).body)).toBe(count(body));
  });
});
