/** Options of Node from the environment change neither the server that gets a plant nor the check of its response. */
import { expect, it } from "vitest";
import { openRawServer, openScriptedServer, json } from "../client/scripted-server.ts";
import { startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const create = ["create", "--id", "1", "--name", "fern", "--retry", "0"];

it("a proxy in the environment does not get the token", async () => {
  const store = await openScriptedServer(json(200, '{"name":"fern"}'));
  const proxy = await openScriptedServer(json(200, '{"name":"of the proxy"}'));
  const home = await createTemporaryDirectory();
  const env = {
    PLANTSTORE_URL: store.url,
    PLANTSTORE_TOKEN: "secret",
    NODE_USE_ENV_PROXY: "1",
    HTTP_PROXY: proxy.url,
    http_proxy: proxy.url,
  };
  const { code, stdout } = await startBinary(create, { home, env }).finished;
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"name":"fern"}\n' });
  expect(proxy.requests).toEqual([]);
});

it("a malformed response is rejected even with --insecure-http-parser", async () => {
  const url = await openRawServer((socket) => {
    socket.once("data", () => {
      const body = '{"name":"fern"}';
      const head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked";
      socket.end(`${head}\r\nContent-Length: 15\r\n\r\nf\r\n${body}\r\n0\r\n\r\n`);
    });
  });
  const home = await createTemporaryDirectory();
  const env = {
    PLANTSTORE_URL: url,
    PLANTSTORE_TOKEN: "secret",
    NODE_OPTIONS: "--insecure-http-parser",
  };
  const { code, stderr } = await startBinary(create, { home, env }).finished;
  expect(code).toBe(7);
  expect(stderr).toMatch(/ is not a plant store \(no HTTP response\)/);
});
