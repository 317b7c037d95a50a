/** A server on a Unix socket instead of an address. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { startServer } from "../../helpers/plant-server.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

async function get(socketPath: string, path: string): Promise<string> {
  const sent = request({ socketPath, path, agent: false }).end();
  const [response] = (await once(sent, "response")) as [NodeJS.ReadableStream];
  return text(response);
}

it("responds on the socket, and removes it when it closes", async () => {
  const socketPath = join(await createTemporaryDirectory(), "plants.sock");
  const server = await startServer({ socketPath, basePath: "/v1" });
  expect(server.url).toBe(`unix:${socketPath}:/v1`);
  expect(await get(socketPath, "/healthz")).toBe('{"status":"ok"}');
  expect(await get(socketPath, "/openapi.json")).toContain('"http://localhost/v1"');
  await server.close();
  expect(existsSync(socketPath)).toBe(false);
});

it("is ready for connections in the turn of the event loop in which its path appears", async () => {
  const socketPath = join(await createTemporaryDirectory(), "plants.sock");
  let isReady = false;
  const opening = startServer({ socketPath }).finally(() => (isReady = true));
  while (!existsSync(socketPath)) await turn();
  expect(isReady).toBe(true);
  await using server = await opening;
  expect(server.errors).toEqual([]);
});

it("replaces a socket that a killed server left", async () => {
  const socketPath = join(await createTemporaryDirectory(), "plants.sock");
  const killed = createServer().listen(`${socketPath}.bound`);
  await once(killed, "listening");
  // Closing removes the first name, and leaves this one.
  renameSync(`${socketPath}.bound`, socketPath);
  await new Promise((resolve) => killed.close(resolve));
  expect(existsSync(socketPath)).toBe(true);
  await using server = await startServer({ socketPath });
  expect(await get(socketPath, "/healthz")).toBe('{"status":"ok"}');
  expect(server.errors).toEqual([]);
});

it("leaves the socket of its successor", async () => {
  const directory = await createTemporaryDirectory();
  const socketPath = join(directory, "plants.sock");
  const server = await startServer({ socketPath });
  rmSync(socketPath);
  await using successor = await startServer({ socketPath });
  await server.close();
  expect(await get(socketPath, "/healthz")).toBe('{"status":"ok"}');
  expect(await readdir(directory)).toEqual(["plants.sock"]);
  expect(successor.errors).toEqual([]);
});

it("replaces neither the socket of a running server nor a file", async () => {
  const directory = await createTemporaryDirectory();
  const socketPath = join(directory, "plants.sock");
  await using server = await startServer({ socketPath });
  await expect(startServer({ socketPath })).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(await get(socketPath, "/healthz")).toBe('{"status":"ok"}');
  const file = join(directory, "file");
  await writeFile(file, "");
  await expect(startServer({ socketPath: file })).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(existsSync(file)).toBe(true);
  expect(server.errors).toEqual([]);
});

it("rejects a path that is too long instead of truncating it", async () => {
  const directory = await createTemporaryDirectory();
  const longest = join(directory, "s".repeat(103 - directory.length - 1));
  await using server = await startServer({ socketPath: longest });
  expect(server.url).toBe(`unix:${longest}`);
  await expect(startServer({ socketPath: `${longest}s` })).rejects.toMatchObject({
    code: "ENAMETOOLONG",
  });
  expect(await readdir(directory)).toEqual([basename(longest)]);
});
