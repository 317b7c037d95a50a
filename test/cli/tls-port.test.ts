/** Requests to a port that expects TLS, and the reverse. */
import { createServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { isTlsPort } from "../../src/client/http/tls-port.ts";
import { openRawServer } from "../client/scripted-server.ts";
import { createCertificate } from "../helpers/certificate.ts";
import { runCli, startCli } from "../helpers/run-cli.ts";

async function startTlsServer(): Promise<string> {
  const server = createServer(createCertificate("localhost")).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const commands = [
  { args: ["create", "--id", "1", "--name", "fern", "--retry", "0"] },
  {
    args: ["create", "--retry", "0", "--concurrency", "1"],
    stdin: '{"id":1,"name":"a"}\n'.repeat(50),
  },
  { args: ["ping"] },
  { args: ["login"], stdin: "secret" },
];

it.each(commands)("names the TLS port: $args", async ({ args, stdin = "" }) => {
  const url = await startTlsServer();
  const env = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: "secret" };
  const { exitCode, stderr } = await runCli(args, { env, stdin });
  expect(exitCode).toBe(6);
  expect(stderr).toContain(`error: ${url} is a TLS port: try ${url.replace("http:", "https:")}\n`);
});

it.each([
  { args: ["create", "--id", "1", "--name", "fern", "--retry", "0", "--json"] },
  {
    args: ["create", "--retry", "0", "--concurrency", "1", "--json"],
    stdin: '{"id":1,"name":"a"}\n'.repeat(2),
  },
  { args: ["status"] },
  { args: ["status", "--json"] },
  { args: ["doctor", "--json"] },
])("names the TLS port on stdout: $args", async ({ args, stdin = "" }) => {
  const url = await startTlsServer();
  const env = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: "secret" };
  const { stdout } = await runCli(args, { env, stdin });
  expect(stdout).toContain(`${url} is a TLS port: try ${url.replace("http:", "https:")}`);
  expect(stdout).not.toContain("lost the connection");
});

it("checks no port once its signal is aborted", async () => {
  expect(await isTlsPort(await startTlsServer(), AbortSignal.abort())).toBe(false);
});

it("stops the check for a TLS port at Ctrl-C", async () => {
  let check = (): void => undefined;
  const isChecked = new Promise<void>((resolve) => (check = resolve));
  let connections = 0;
  const url = await openRawServer((socket) => {
    // The first connection is the request; the second one, the check, gets no response.
    if (connections++ === 0) socket.destroy();
    else check();
  });
  const env = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: "secret" };
  const run = startCli(["status"], { env });
  await isChecked;
  expect(run.signal("SIGINT")).toBe(true);
  expect(await run.finished).toMatchObject({ exitCode: 130 });
});

it("names no TLS port if a server without TLS ends the connection", async () => {
  const url = await openRawServer((socket) => socket.destroy());
  const env = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: "secret" };
  const { stderr } = await runCli(["create", "--id", "1", "--name", "fern", "--retry", "0"], {
    env,
  });
  expect(stderr).toMatch(/^error: lost the connection to /);
});
