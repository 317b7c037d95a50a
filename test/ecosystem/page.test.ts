/** Tests the page in a real browser. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { findBrowser } from "../helpers/installed-programs.ts";
import { startServer, type TestServer, testToken } from "../helpers/plant-server.ts";
import { run } from "../helpers/run.ts";
import { openBrowser } from "./open-browser.ts";

let browser: Browser;
let server: TestServer;
let page: Page;
/** Messages on the browser's console, dialogs included. */
let complaints: string[];
/** URL of every request. */
let requested: string[];

// test/helpers/untested.ts reports when these tests do not run.
describe.skipIf(findBrowser() === undefined)("the page in a browser", () => {
  beforeAll(async () => {
    browser = await openBrowser();
    server = await startServer({ basePath: "/v1" });
  });
  afterAll(async () => {
    // Undefined if opening failed.
    await (browser as Browser | undefined)?.close();
    await (server as TestServer | undefined)?.close();
  });
  beforeEach(async () => {
    page = await openPage();
  });

  async function openPage(
    options?: Parameters<Browser["newContext"]>[0],
    { url } = server,
  ): Promise<Page> {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const opened = await context.newPage();
    complaints = [];
    requested = [];
    opened.on("console", (message) => complaints.push(message.text()));
    opened.on("pageerror", (error) => complaints.push(error.message));
    opened.on("dialog", (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    opened.on("request", (request) => requested.push(request.url()));
    await opened.goto(new URL("/", url).href);
    return opened;
  }

  interface FormPlant {
    readonly id: string;
    readonly name: string;
    readonly tag?: string;
  }

  async function fill({ id, name, tag }: FormPlant, token = testToken): Promise<void> {
    await page.getByLabel("Token").fill(token);
    await page.getByLabel("id", { exact: true }).fill(id);
    await page.getByLabel("name", { exact: true }).fill(name);
    if (tag !== undefined) {
      await page.getByLabel("with a tag").check();
      await page.getByLabel("tag", { exact: true }).fill(tag);
    }
  }

  /** Fills in the form, submits it with Enter, and resolves with the texts that the page shows. */
  async function create(plant: FormPlant, token?: string) {
    await fill(plant, token);
    await page.getByLabel("name", { exact: true }).press("Enter");
    return readOutcome();
  }

  async function readOutcome() {
    const outcome = page.getByRole("status").filter({ hasText: /[^…]$/ });
    // Not with a function: the page's policy forbids code from text.
    await outcome.waitFor();
    return {
      outcome: await outcome.textContent(),
      request: await page.locator("#request").textContent(),
      response: await page.locator("#response").textContent(),
    };
  }

  it("loads in one request and without an error", async () => {
    await page.waitForLoadState("networkidle");
    expect(await page.title()).toBe("plant store");
    expect(complaints).toEqual([]);
    expect(requested).toEqual([new URL("/", server.url).href]);
  });

  it("shows the response in sight, then the request and the commands, and nothing touches", async () => {
    page = await openPage({ viewport: { width: 1280, height: 720 } });
    await create({ id: "40", name: "fern" });
    const parts = ["#response", "#request", "#plantstore", "#copy-plantstore", "#curl"];
    const boxes = await Promise.all(parts.map((part) => page.locator(part).boundingBox()));
    let bottom = 0;
    for (const box of boxes) {
      expect(box?.y).toBeGreaterThan(bottom + 5);
      bottom = (box?.y ?? 0) + (box?.height ?? 0);
    }
    expect((boxes[0]?.y ?? 0) + (boxes[0]?.height ?? 0)).toBeLessThanOrEqual(720);
  });

  it("stores the plant of the form with every digit of its id", async () => {
    const { outcome, request, response } = await create({
      id: "9223372036854775807",
      name: "mönstera 🌿",
      tag: "",
    });
    expect(outcome).toBe("Created plant 9223372036854775807.");
    expect(request).toBe(
      [
        "POST /v1/plants HTTP/1.1",
        `Host: ${new URL(server.url).host}`,
        "Authorization: Bearer $PLANTSTORE_TOKEN",
        "Content-Type: application/json",
        "",
        '{"id":9223372036854775807,"name":"mönstera 🌿","tag":""}',
      ].join("\n"),
    );
    expect(response).toMatch(
      /^200 OK\n[^]*x-plantstore-result: created[^]*\n\n\{"name":"mönstera 🌿","tag":""\}$/,
    );
    const id = 9223372036854775807n;
    expect(await server.store.get(id)).toEqual({ id, name: "mönstera 🌿", tag: "" });
    // No id is larger.
    expect(await page.locator("#id").inputValue()).toBe(String(id));
    expect(complaints).toEqual([]);
    expect(new Set(requested.map((url) => new URL(url).origin))).toEqual(
      new Set([new URL(server.url).origin]),
    );
  });

  it("shows the error of the server for an unknown token", async () => {
    const { outcome, response } = await create({ id: "1", name: "fern" }, "wrong");
    expect(outcome).toMatch(/^Did not create plant 1: .*the token is unknown.* \(error 40102\)$/);
    expect(response).toMatch(/^400 Bad Request\n[^]*"error":40102[^]*the token is unknown/);
    expect(await page.locator("[aria-invalid=true]").getAttribute("id")).toBe("token");
    expect(await server.store.get(1n)).toBeUndefined();
  });

  it("accepts a token that is copied with the word Bearer", async () => {
    const { outcome } = await create({ id: "11", name: "fern" }, `Bearer ${testToken}`);
    expect(outcome).toBe("Created plant 11.");
  });

  it.each([
    ["1.5", testToken, "id"],
    ["x", testToken, "id"],
    ["", testToken, "id"],
    ["1", "", "token"],
    ["1", "tökén🌿", "token"],
    ["1", "two words", "token"],
  ])(
    "does not send the id %j with the token %j: the browser names the field",
    async (id, token, field) => {
      await fill({ id, name: "fern" }, token);
      expect(await page.locator("#curl").isVisible()).toBe(id === "1");
      await page.locator("#name").press("Enter");
      expect(await page.locator("input:user-invalid").getAttribute("id")).toBe(field);
      expect(await page.evaluate("document.activeElement.id")).toBe(field);
      expect(requested).toEqual([new URL("/", server.url).href]);
    },
  );

  it("shows the error of the server for an id that is too large", async () => {
    const { outcome } = await create({ id: "9223372036854775808", name: "fern" });
    expect(outcome).toMatch(/9223372036854775807.*\(error 42203\)$/);
  });

  it("takes the token of a link, and removes it from the address bar", async () => {
    const chosen = "try-it.on_docs~1/a+b==";
    for (const [path, fragment, token] of [
      ["/", testToken, testToken],
      ["/docs", `token=${testToken}`, testToken],
      ["/docs", chosen, chosen],
    ] as const) {
      const url = new URL(path, server.url).href;
      // The page at / is open already: only its fragment changes.
      await page.goto(`${url}#${fragment}`);
      await expect.poll(() => page.getByLabel("Token").inputValue()).toBe(token);
      expect(page.url()).toBe(url);
    }
    expect(requested.join()).not.toContain(testToken);
  });

  it("takes no place on the page for a token", async () => {
    const url = new URL("/#errors", server.url).href;
    await page.goto(url);
    expect(await page.getByLabel("Token").inputValue()).toBe("");
    expect(page.url()).toBe(url);
  });

  it.each([320, 390, 1280])("shows every column of the tables at %i px", async (width) => {
    page = await openPage({ viewport: { width, height: 667 } });
    const cut = await page.evaluate(`Array.from(document.querySelectorAll("table, th, td"))
      .filter((box) => box.scrollWidth > box.clientWidth || box.getBoundingClientRect().right > innerWidth)
      .map((box) => box.textContent)`);
    expect(cut).toEqual([]);
    expect(await page.locator("td:last-child").first().isVisible()).toBe(true);
    expect(await page.locator("[tabindex]").count()).toBe(0);
  });

  it("has links, boxes, buttons and fields of at least 24 px, and the page of a phone is short", async () => {
    await using whole = await startServer({ operations: "all" });
    page = await openPage({ viewport: { width: 320, height: 667 } }, whole);
    const small =
      await page.evaluate(`Array.from(document.querySelectorAll("a, input, button, summary"))
      .map((element) => [element.outerHTML, element.getBoundingClientRect()])
      .filter(([, { width, height }]) => width > 0 && (width < 24 || height < 24))
      .map(([html, { width, height }]) => [html, width, height])`);
    expect(small).toEqual([]);
    expect(await page.evaluate("document.body.scrollHeight")).toBeLessThan(6500);
  });

  it("reports a plant that is already stored", async () => {
    await create({ id: "20", name: "fern" });
    await page.reload();
    const { outcome } = await create({ id: "20", name: "fern" });
    expect(outcome).toBe("Unchanged: plant 20 is already stored.");
    expect(await page.locator("#id").inputValue()).toBe("20");
  });

  it("counts the id up after a create, with every digit", async () => {
    await create({ id: " 009007199254740993", name: "fern" });
    expect(await page.locator("#id").inputValue()).toBe("9007199254740994");
    const command = await runCommand("plantstore");
    expect(command.slice(4)).toEqual(["9007199254740994", "--name", "fern"]);
    await page.locator("#id").press("Enter");
    await page.getByText("Created plant 9007199254740994.").waitFor();
  });

  it("removes the outcome with an edit, and names the request the last one", async () => {
    await create({ id: "50", name: "fern" });
    await page.locator("#name").fill("moss");
    expect(await page.getByRole("status").textContent()).toBe("");
    await page.getByRole("heading", { name: "Last request" }).waitFor();
    await page.locator("#id").fill("x");
    await page.locator("#id").press("Enter");
    expect(await page.locator("#request").textContent()).toContain('{"id":50,"name":"fern"}');
  });

  it("sends one plant at a time, and names it while the form shows another", async () => {
    const release = await holdCreates();
    await fill({ id: "60", name: "fern" });
    const name = page.locator("#name");
    const status = page.getByRole("status");
    await name.press("Enter");
    expect(await status.textContent()).toBe("Sending plant 60…");
    await name.fill("moss");
    expect(await status.textContent()).toBe("Sending plant 60…");
    await name.press("Enter");
    expect(await status.textContent()).toBe("Still sending plant 60.");
    release();
    await page.getByText("Created plant 60.").waitFor();
    expect(await page.locator("#request").textContent()).toContain('{"id":60,"name":"fern"}');
    expect(await server.store.get(60n)).toEqual({ id: 60n, name: "fern" });
    await name.press("Enter");
    await page.getByText("Created plant 61.").waitFor();
    expect(await server.store.get(61n)).toEqual({ id: 61n, name: "moss" });
  });

  it("keeps an id that was entered while a plant was sent", async () => {
    const release = await holdCreates();
    await fill({ id: "70", name: "fern" });
    await page.locator("#name").press("Enter");
    await page.locator("#id").fill("80");
    release();
    await page.getByText("Created plant 70.").waitFor();
    expect(await page.locator("#id").inputValue()).toBe("80");
  });

  /** Delays creates until the returned function is called. */
  async function holdCreates(): Promise<() => void> {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/plants", async (route) => {
      await released;
      await route.continue();
    });
    return release;
  }

  it("links an error to its row in the list", async () => {
    await create({ id: "90", name: "fern" });
    const { outcome } = await create({ id: "90", name: "moss" });
    expect(outcome).toMatch(/^Did not create plant 90: .* \(error 40900\)$/);
    await page.getByRole("link", { name: "error 40900" }).click();
    const row = page.locator(":target");
    expect(await row.textContent()).toMatch(/^40900/);
    const { y = -1 } = (await row.boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
  });

  it("opens the fold of the other errors for a link to one of them", async () => {
    expect(await page.getByText("41700").isVisible()).toBe(false);
    await page.goto(`${new URL("/", server.url).href}#error-41700`);
    await page.getByText("41700").waitFor();
    const { y = -1 } = (await page.locator(":target").boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y).toBeLessThan(720);
    expect(page.url()).toMatch(/#error-41700$/);
  });

  it.each(["#token", "#id", "#name", "#tag", "#has-tag"])(
    "submits on Enter in %s",
    async (field) => {
      await fill({ id: "1", name: "fern", tag: "" }, "wrong");
      await page.locator(field).press("Enter");
      expect((await readOutcome()).outcome).toMatch(/\(error 40102\)$/);
    },
  );

  it("shows the reason of a rejection without scrolling on a phone, and announces it", async () => {
    page = await openPage({ viewport: { width: 375, height: 667 } });
    const { outcome } = await create({ id: "1", name: "x".repeat(500), tag: "" }, "wrong");
    expect(outcome).toMatch(/\(error 40102\)$/);
    const box = await page.getByRole("status").boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(667);
  });

  const plants: [title: string, plant: FormPlant][] = [
    ["plain words", { id: "9223372036854775807", name: "fern" }],
    ["a tag", { id: "-1", name: "-n", tag: "--help" }],
    ["quotes", { id: "1", name: `it's "one" of '' them`, tag: "'" }],
    ["shell syntax", { id: "2", name: "$(id) `id` $HOME \\ !! ; | & > < * ~ #", tag: "\\" }],
    ["other scripts", { id: "3", name: "mönstera 🌿 榕", tag: "" }],
    ["an empty name", { id: "7", name: "" }],
  ];
  it.each(plants)("shows commands for the plant in the form: %s", async (_title, plant) => {
    await fill(plant);
    const { id, name, tag } = plant;
    const body = `{"id":${id},${JSON.stringify(tag === undefined ? { name } : { name, tag }).slice(1)}`;
    expect(await runCommand("curl")).toEqual([
      `${server.url}/plants`,
      "-H",
      "Authorization: Bearer $",
      "-H",
      "Content-Type: application/json",
      "-d",
      body,
    ]);
    const ownFlags = ["--id", id, "--name", name, ...(tag === undefined ? [] : ["--tag", tag])];
    expect(await runCommand("plantstore")).toEqual(["create", "--url", server.url, ...ownFlags]);
  });

  /** Runs a command of the page in a shell and returns its arguments. */
  async function runCommand(name: "curl" | "plantstore"): Promise<string[]> {
    const command = await page.locator(`#${name}`).textContent();
    const script = `${name}() { printf '%s\\0' "$@"; }; ${command}`;
    const env = { PLANTSTORE_TOKEN: "$" };
    const { stdout } = await run("/bin/sh", ["-c", script], { env });
    return stdout.split("\0").slice(0, -1);
  }

  it("shows the commands of the form as it is loaded", async () => {
    const words = `create --url ${server.url} --id 1 --name fern`.split(" ");
    expect(await runCommand("plantstore")).toEqual(words);
    expect((await runCommand("curl")).at(-1)).toBe('{"id":1,"name":"fern"}');
  });

  it("shows markup in a name as text", async () => {
    const name = `<img src=x onerror="alert(1)"></pre><script>alert(2)</script>`;
    const { response } = await create({ id: "7", name });
    expect(response?.split("\n").at(-1)).toBe(JSON.stringify({ name }));
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("does not store the token", async () => {
    await create({ id: "8", name: "fern" }, testToken);
    expect(await page.content()).not.toContain(testToken);
    expect(page.url()).not.toContain(testToken);
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0);
    await page.reload();
    expect(await page.getByLabel("Token").inputValue()).toBe("");
  });

  it("names a server that is gone", async () => {
    const gone = await startServer();
    page = await openPage({}, gone);
    await gone.close();
    const { outcome, response } = await create({ id: "9", name: "fern" });
    expect(response).toBe(
      `No response: nothing listens at ${new URL(gone.url).origin}, or the connection broke.`,
    );
    expect(outcome).toBe(`${response} Plant 9 may or may not be stored. Send it again.`);
    expect(await page.locator("#id").inputValue()).toBe("9");
  });

  it.each([
    ["a page with status 200", { status: 200, body: "<p>Sign in</p>" }, "of status 200"],
    ["another error", { status: 502, body: '{"detail":"bad gateway"}' }, "of status 502"],
    ["a redirect", { status: 302, headers: { location: "/login" } }, "a redirect"],
  ])("reports a response that is not from plantstore: %s", async (_, response, what) => {
    await page.route("**/plants", (route) => route.fulfill(response), { times: 1 });
    const { outcome } = await create({ id: "9", name: "fern" });
    expect(outcome).toBe(
      `The response (${what}) is not from plantstore, perhaps from a proxy. Plant 9 may or may not be stored. Send it again.`,
    );
    expect(await page.locator("#id").inputValue()).toBe("9");
  });

  it("stops a request without a response after 30 s", async () => {
    // A tenth of the time.
    await page.addInitScript(
      "const timeout = AbortSignal.timeout; AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / 10);",
    );
    await page.reload();
    await page.route("**/plants", () => undefined, { times: 1 });
    const { outcome, response } = await create({ id: "9", name: "fern" });
    expect(response).toBe("No response within 30 s.");
    expect(outcome).toBe(`${response} Plant 9 may or may not be stored. Send it again.`);
    await page.locator("#id").press("Enter");
    await page.getByText("Created plant 9.").waitFor();
  });

  it("shows the commands but no form without JavaScript", async () => {
    page = await openPage({ javaScriptEnabled: false });
    await page.locator("noscript p").waitFor();
    expect(await page.locator("form").isVisible()).toBe(false);
    expect(await page.locator("#curl").isVisible()).toBe(true);
  });

  it("copies a command", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy plantstore command" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      `plantstore create --url ${server.url} \\\n  --id 1 --name fern`,
    );
  });

  it("gives every field a label and reaches it with the keyboard", async () => {
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

  const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
  async function expectAccessible(width: number): Promise<void> {
    // Not with addScriptTag: the page's policy forbids other scripts.
    await page.evaluate(await readFile(axePath, "utf8"));
    const { violations } = (await page.evaluate("axe.run()")) as AxeResults;
    expect(violations.map(({ id, impact, nodes }) => [id, impact, nodes[0]?.html])).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  }
  const screens = [1280, 375, 320].flatMap((width) =>
    (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
  );
  it.each(screens)("is accessible at $width px in $colorScheme colours", async (screen) => {
    const { width, colorScheme } = screen;
    page = await openPage({ viewport: { width, height: 800 }, colorScheme });
    const background = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(background).toBe(colorScheme === "dark" ? "rgb(20, 24, 21)" : "rgb(253, 253, 251)");
    expect(complaints).toEqual([]);
    const plant = { id: "1", name: "fern", tag: "pot" };
    for (const act of [
      () => undefined,
      async () => {
        await fill({ ...plant, id: "1.5" });
        await page.locator("#id").press("Enter");
      },
      () => create(plant, "wrong"),
    ]) {
      await act();
      await expectAccessible(width);
    }
  });

  describe("of a server with all operations", () => {
    async function openWhole(count: number): Promise<TestServer> {
      const whole = await startServer({ basePath: "/v1", operations: "all" });
      onTestFinished(() => whole.close());
      for (let id = 0n; id < count; id++) {
        const name = id === 1n ? '<b>"id":7</b> {"id":7' : `plant ${id}`;
        await whole.store.create({ id: 2n ** 53n + id, name, tag: "pot" }, "reject");
      }
      page = await openPage(undefined, whole);
      return whole;
    }

    const readRows = () => page.locator("#list tbody tr").allTextContents();
    const say = (text: RegExp) => page.locator("#list-outcome").filter({ hasText: text }).waitFor();

    it("shows the plants in pages, with every digit of their ids", async () => {
      await openWhole(150);
      const next = page.getByRole("button", { name: "Next page" });
      expect(await next.isVisible()).toBe(false);
      await page.getByRole("button", { name: "Show plants" }).click();
      expect(await page.evaluate("document.activeElement.id")).toBe("token");
      await page.getByLabel("Token").fill(` Bearer ${testToken} `);
      await page.getByRole("button", { name: "Show plants" }).click();
      await say(/^100 plants, with ids from 9007199254740992 to 9007199254741091; more follow\.$/);
      const rows = await readRows();
      expect(rows).toHaveLength(100);
      expect(rows[1]).toBe('9007199254740993<b>"id":7</b> {"id":7pot');
      await next.click();
      await say(/^50 plants, with ids from 9007199254741092 to 9007199254741141\.$/);
      expect(await readRows()).toHaveLength(50);
      expect(await next.isVisible()).toBe(false);
      expect(complaints).toEqual([]);
    });

    it("says why it shows none", async () => {
      const whole = await openWhole(0);
      await page.getByLabel("Token").fill("wrong");
      const show = page.getByRole("button", { name: "Show plants" });
      await show.click();
      await say(/^Did not list plants: the token is unknown.*\(error 40102\)\.$/);
      await page.getByLabel("Token").fill(testToken);
      await show.click();
      await say(/^0 plants\.$/);
      expect(await page.locator("#list").isVisible()).toBe(false);
      await whole.server.close(0);
      await show.click();
      await say(/^No response/);
    });

    it.each([1280, 320])("is accessible at %i px", async (width) => {
      await openWhole(3);
      await page.setViewportSize({ width, height: 800 });
      await page.getByLabel("Token").fill(testToken);
      await page.getByRole("button", { name: "Show plants" }).click();
      await say(/^3 plants/);
      await expectAccessible(width);
    });
  });

  it.each(["light", "dark"] as const)(
    "gives fields a visible border in %s colours",
    async (colorScheme) => {
      page = await openPage({ colorScheme });
      const [border, background] = (await page.evaluate(
        "(({ borderTopColor, backgroundColor }) => [borderTopColor, backgroundColor])(getComputedStyle(document.getElementById('id')))",
      )) as [string, string];
      const [darker = 0, lighter = 0] = [border, background]
        .map(toLuminance)
        .toSorted((a, b) => a - b);
      // WCAG 2.2, success criterion 1.4.11.
      expect((lighter + 0.05) / (darker + 0.05)).toBeGreaterThanOrEqual(3);
    },
  );
});

/** Relative luminance of `rgb(r, g, b)` (WCAG 2.2). */
function toLuminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/\d+/g) ?? []).map((text) => {
    const value = Number(text) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
