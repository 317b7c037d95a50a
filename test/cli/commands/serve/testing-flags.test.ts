/** The flags of `plantstore serve` for tests of clients: the status mode and faults. */
import { describe, expect, it } from "vitest";
import { mintToken } from "../../../../src/auth/authenticator.ts";
import { runCli, startServe } from "../../../helpers/run-cli.ts";
import { postPlant } from "../../../helpers/post-plant.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

const env = { PLANTSTORE_TOKEN: mintToken() };

/** Starts `serve` with a store in memory. */
async function serve(...args: readonly string[]) {
  const home = await createTemporaryDirectory();
  const flags = ["--store", "memory:", "--log-format", "text"];
  const run = await startServe([...flags, ...args], { home, env });
  await run.saw("Listening on");
  return { home, ...run };
}

describe("--status-mode http", () => {
  it("is reported, and in the description and on the page of that server", async () => {
    const { url, stderr } = await serve("--status-mode", "http");
    expect(stderr()).toContain("Status: the first three digits of the error number");
    const response = await fetch(`${url}/plants`, { method: "POST" });
    expect(response.status).toBe(401);
    const description = await (await fetch(`${url}/openapi.json`)).text();
    expect(Object.keys(readResponses(description))).toContain("409");
    expect(description).toContain("--status-mode http");
    const page = await (await fetch(`${url}/docs`)).text();
    expect(page).toContain(">4xx or 5xx: Error<");
    expect(page).toContain("--status-mode http");
  });

  it("is not the default", async () => {
    const { url, stderr } = await serve();
    expect(stderr()).not.toMatch(/status/i);
    expect((await fetch(`${url}/plants`, { method: "POST" })).status).toBe(400);
    const description = await (await fetch(`${url}/openapi.json`)).text();
    expect(Object.keys(readResponses(description))).toEqual(["200", "400"]);
    const page = await (await fetch(`${url}/docs`)).text();
    expect(page).toContain(">400: Error<");
    expect(page).not.toContain("status-mode");
  });
});

function readResponses(description: string): object {
  const { paths } = JSON.parse(description) as {
    readonly paths: { readonly "/plants": { readonly post: { readonly responses: object } } };
  };
  return paths["/plants"].post.responses;
}

describe("faults", () => {
  it("are reported in one form, with their seed", async () => {
    const list = "latency=1ms..2s fail=5% drop=0.5% seed=42 first=fail,drop";
    const { stderr } = await serve(
      "--faults",
      ` seed=42  drop=0.5% first=fail,drop fail=5%\tlatency=1ms..2s `,
    );
    expect(stderr()).toContain(`warning: faults are on for tests of clients: --faults "${list}"\n`);
  });

  it("of every kind are reported", async () => {
    const first = "first=status,token,cut,silent";
    const list = `fail=1% drop=2% status=3% token=4% cut=5% silent=6% page=503 seed=1 ${first}`;
    const { stderr } = await serve("--faults", list);
    expect(stderr()).toContain(`--faults "${list}"\n`);
  });

  it("have a random seed, which is reported", async () => {
    const { stderr } = await serve("--faults", "fail=5%");
    expect(stderr()).toMatch(/--faults "fail=5% seed=\d+"\n/);
  });

  it.each(["", "seed=1 latency=0ms drop=0%"])("are off with %j", async (list) => {
    const { stderr } = await serve("--faults", list);
    expect(stderr()).not.toContain("fault");
  });

  it("are counted by kind in the metrics", async () => {
    const { url } = await serve("--metrics", "main", "--faults", "fail=100% latency=1ms");
    await postPlant(url, env.PLANTSTORE_TOKEN, { id: 1, name: "fern" });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('plantstore_faults_total{kind="failed"} 1\n');
    expect(metrics).toContain('plantstore_faults_total{kind="delayed"} 1\n');
  });
});

const time = "a time such as 200ms, or a range such as 200ms..2s, at most 1h";
const percentage = "a percentage such as 5% or 0.5%, from 0% to 100%";
const parts = "latency, fail, drop, status, token, cut, silent, page, seed, first";

it.each([
  ["latency", "200", time],
  ["latency", "2s..200ms", time],
  ["latency", "1ms..2ms..3ms", time],
  ["latency", "3601s", time],
  ["latency", "-1ms", time],
  ["fail", "", percentage],
  ["fail", "0.05", percentage],
  ["fail", "100.1%", percentage],
  ["silent", "2", percentage],
  ["page", "200", "a whole number from 400 to 599"],
  ["page", "600", "a whole number from 400 to 599"],
  ["seed", "1000000000", "a whole number from 0 to 999999999"],
  ["seed", "1.5", "a whole number from 0 to 999999999"],
  ["seed", "1=2", "a whole number from 0 to 999999999"],
])("rejects --faults %s=%s", async (part, value, rule) => {
  const problem = `error: --faults has an invalid part: ${part} must be ${rule} (got "${value}")\n`;
  expect(await runCli(["serve", "--faults", `drop=1% ${part}=${value}`])).toExit(2, problem);
});

it.each([
  [["--status-mode", "rest"], '--status-mode must be one of contract, http (got "rest")'],
  [["--faults", "lat=1s"], `--faults has an unknown part "lat": known are ${parts}`],
  [["--faults", "=1s"], `--faults has an unknown part "": known are ${parts}`],
  [
    ["--faults", "drop=-1%"],
    `--faults has an invalid part: drop must be ${percentage} (got "-1%")`,
  ],
  [["--faults", "fail"], `--faults has an invalid part: fail must be ${percentage} (got "")`],
  [["--faults", "fail=5 %"], `--faults has an invalid part: fail must be ${percentage} (got "5")`],
  [["--faults", "seed=1 seed=1"], "--faults has two parts seed: remove one of them"],
])("rejects %j", async (flags, message) => {
  expect(await runCli(["serve", ...flags])).toExit(2, `error: ${message}\n`);
});

it("reads faults from PLANTSTORE_FAULTS", async () => {
  const result = await runCli(["serve"], { env: { PLANTSTORE_FAULTS: "fail=5" } });
  expect(result).toExit(2, /^error: PLANTSTORE_FAULTS has an invalid part: fail must be a perc/);
});
