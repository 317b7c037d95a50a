/** The page in a real browser. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { findBrowser, openBrowser } from "../../helpers/browser.ts";
import { startServer, type TestServer, testToken } from "../../helpers/plant-server.ts";

let browser: Browser;
let server: TestServer;
let page: Page;
/** What the browser had to complain of, and every URL that it asked for. */
let complaints: string[];
let asked: string[];

// Where there is none, the end of the run says so.
describe.skipIf(findBrowser() === undefined)("in a browser", () => {
  beforeAll(async () => {
    browser = await openBrowser();
    server = await startServer({ basePath: "/v1" });
  });
  afterAll(async () => {
    // What was not opened needs no closing.
    await (browser as Browser | undefined)?.close();
    await (server as TestServer | undefined)?.close();
  });
  beforeEach(async () => {
    page = await openPage();
  });

  async function openPage(options?: Parameters<Browser["newContext"]>[0]): Promise<Page> {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const opened = await context.newPage();
    complaints = [];
    asked = [];
    opened.on("console", (message) => complaints.push(message.text()));
    opened.on("pageerror", (error) => complaints.push(error.message));
    opened.on("dialog", (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    opened.on("request", (request) => asked.push(request.url()));
    await opened.goto(new URL("/", server.url).href);
    return opened;
  }

  /** Fills in the form and sends it by the keyboard; resolves with what the page says then. */
  async function create(plant: { id: string; name: string; tag?: string }, token = testToken) {
    await page.getByLabel("Token").fill(token);
    await page.getByLabel("id", { exact: true }).fill(plant.id);
    await page.getByLabel("name", { exact: true }).fill(plant.name);
    if (plant.tag !== undefined) {
      await page.getByLabel("with a tag").check();
      await page.getByLabel("tag", { exact: true }).fill(plant.tag);
    }
    await page.getByLabel("name", { exact: true }).press("Enter");
    const outcome = page.getByRole("status").filter({ hasText: /[.]$/ });
    // Not by a function: it would be made of text in the page, whose policy forbids that.
    await outcome.waitFor();
    return {
      outcome: await outcome.textContent(),
      request: await page.locator("#request").textContent(),
      answer: await page.locator("#response").textContent(),
    };
  }

  it("the page loads without a complaint, and asks nobody else for anything", async () => {
    await page.waitForLoadState("networkidle");
    expect(await page.title()).toBe("plant store");
    expect(complaints).toEqual([]);
    expect(asked).toEqual([new URL("/", server.url).href]);
  });

  it("a create from the form lands in the store, with every digit of its id", async () => {
    const { outcome, request, answer } = await create({
      id: "9223372036854775807",
      name: "mönstera 🌿",
      tag: "",
    });
    expect(outcome).toBe("The plant is stored: created.");
    expect(request).toBe(
      [
        "POST /v1/plants HTTP/1.1",
        `Host: ${new URL(server.url).host}`,
        "Authorization: Bearer (the token)",
        "Content-Type: application/json",
        "",
        '{"id":9223372036854775807,"name":"mönstera 🌿","tag":""}',
      ].join("\n"),
    );
    expect(answer).toMatch(
      /^200 OK\n[^]*x-plantstore-result: created[^]*\n\n\{"name":"mönstera 🌿","tag":""\}$/,
    );
    const id = 9223372036854775807n;
    expect(await server.store.get(id)).toEqual({ id, name: "mönstera 🌿", tag: "" });
    expect(complaints).toEqual([]);
    expect(new Set(asked.map((url) => new URL(url).origin))).toEqual(
      new Set([new URL(server.url).origin]),
    );
  });

  it.each([
    ["a wrong token", { id: "1", name: "fern" }, "wrong", /40102.*the token is unknown/],
    ["no token", { id: "1", name: "fern" }, "", /40100.*no credential/],
    ["an id that is none", { id: "1.5", name: "fern" }, testToken, /42202.*\/id is 1\.5/],
    ["no id", { id: "", name: "fern" }, testToken, /42201.*\/id is missing/],
    ["what is not JSON", { id: "x", name: "fern" }, testToken, /40001.*at byte 6/],
  ])("%s is shown as the server said it", async (_what, plant, token, error) => {
    const { outcome, answer } = await create(plant, token);
    expect(outcome).toBe("The plant was rejected.");
    expect(answer).toMatch(/^400 Bad Request\n/);
    expect(answer).toMatch(error);
    expect(await server.store.get(1n)).toBeUndefined();
  });

  it("markup in a name is text", async () => {
    const name = `<img src=x onerror="alert(1)"></pre><script>alert(2)</script>`;
    const { answer } = await create({ id: "7", name });
    expect(answer?.split("\n").at(-1)).toBe(JSON.stringify({ name }));
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("the token is in none of the places that outlive the page", async () => {
    await create({ id: "8", name: "fern" }, testToken);
    expect(await page.content()).not.toContain(testToken);
    expect(page.url()).not.toContain(testToken);
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0);
    await page.reload();
    expect(await page.getByLabel("Token").inputValue()).toBe("");
  });

  it("says so when no answer comes", async () => {
    await page.route("**/plants", (route) => route.abort());
    const { outcome } = await create({ id: "9", name: "fern" });
    expect(outcome).toMatch(/^No response\. The plant may or may not be stored/);
  });

  it("the commands can be copied", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy" }).last().click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      `plantstore create --url ${server.url} --id 1 --name fern`,
    );
  });

  it("every field has a label, and the keyboard reaches it", async () => {
    for (const name of ["Token", "id", "name"]) {
      await page.keyboard.press("Tab");
      while ((await page.evaluate("document.activeElement.tagName")) === "A") {
        await page.keyboard.press("Tab");
      }
      const field = page.getByRole("textbox", { name, exact: true });
      if (name !== "Token") expect(await field.count()).toBe(1);
      expect(await page.evaluate("document.activeElement.labels[0].textContent")).toBe(name);
    }
  });

  it.each(["light", "dark"] as const)("fits a phone, %s", async (colorScheme) => {
    page = await openPage({ viewport: { width: 360, height: 640 }, colorScheme });
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width).toBeLessThanOrEqual(360);
    const background = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(background).toBe(colorScheme === "dark" ? "rgb(20, 24, 21)" : "rgb(253, 253, 251)");
    expect(complaints).toEqual([]);
  });
});
