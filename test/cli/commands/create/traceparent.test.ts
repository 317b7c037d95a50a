/** The trace of the caller: `create` sends TRACEPARENT with each request. */
import { expect, it } from "vitest";
import { json, openScriptedServer } from "../../../client/scripted-server.ts";
import { runCli } from "../../../helpers/run-cli.ts";

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

async function readTraces(value: string, args: readonly string[], stdin = "") {
  const server = await openScriptedServer(json(200, '{"name":"fern"}'));
  const options = { server, env: { TRACEPARENT: value }, stdin };
  expect(await runCli(["create", ...args], options)).toMatchObject({ exitCode: 0 });
  return server.requests.map(({ headers }) => headers["traceparent"]);
}

const single = ["--id", "1", "--name", "fern"];

it.each([trace, `${trace.replace("00-", "01-")}-more`])("is sent unchanged: %s", async (value) => {
  expect(await readTraces(value, single)).toEqual([value]);
});

it("is sent with each request of a bulk create", async () => {
  const plants = '{"id":1,"name":"fern"}\n{"id":2,"name":"fern"}\n';
  expect(await readTraces(trace, ["--json", "-"], plants)).toEqual([trace, trace]);
});

it.each([
  "",
  "x",
  trace.toUpperCase(),
  trace.replace("00-", "ff-"),
  trace.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0".repeat(32)),
  trace.replace("00f067aa0ba902b7", "0".repeat(16)),
  `${trace}-01`,
  `${trace}\r\nX-Other: 1`,
  `${trace.replace("00-", "01-")}-\r\nX-Other: 1`,
])("is ignored if it is invalid: %j", async (value) => {
  expect(await readTraces(value, single)).toEqual([undefined]);
});
