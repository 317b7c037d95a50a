/** The built command is replaced without a client that notices: with a drain, and with a socket that stays open. */
import { once } from "node:events";
import { type IncomingMessage, request, type RequestOptions } from "node:http";
import { request as requestTls } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { serveBinary } from "../helpers/binary-server.ts";
import { listStored } from "../helpers/all-plants.ts";
import { writeCertificate } from "../helpers/certificate.ts";
import { testToken } from "../helpers/plant-server.ts";
import { hasServiceManager, startServiceManager } from "../helpers/service-manager.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const env = { PLANTSTORE_TOKEN: testToken };

type Received = readonly [status: number | undefined, body: string];

/** Sends a request on a connection of its own. Rejects with the error of the connection. */
async function send(options: RequestOptions, body?: string): Promise<Received> {
  const make = options.protocol === "https:" ? requestTls : request;
  const sent = make({ ...options, agent: false, rejectUnauthorized: false } as RequestOptions);
  const [response] = (await once(sent.end(body), "response")) as [IncomingMessage];
  return [response.statusCode, await text(response)];
}

function create(target: RequestOptions, id: number): Promise<Received> {
  const headers = { authorization: `Bearer ${testToken}`, "content-type": "application/json" };
  return send(
    { ...target, method: "POST", path: "/plants", headers },
    `{"id":${id},"name":"fern"}`,
  );
}

const toTarget = (url: string): RequestOptions => {
  const { protocol, hostname, port } = new URL(url);
  return { protocol, hostname, port };
};

const listIds = async (store: string): Promise<number[]> =>
  (await listStored(store)).map(({ id }) => Number(id));

describe("a server with --drain", () => {
  async function startDraining(seconds: string) {
    const home = await createTemporaryDirectory();
    const store = `sqlite:${join(home, "plants.db")}`;
    const server = await serveBinary(["--store", store, "--drain", seconds], { home, env });
    return { store, server, target: toTarget(server.url) };
  }

  it("is not ready after SIGTERM, accepts creates, and ends at once after a second signal", async () => {
    const { store, server, target } = await startDraining("3600");
    expect(await send({ ...target, path: "/readyz" })).toEqual([200, '{"status":"ready"}']);
    server.child.kill("SIGTERM");
    await expect.poll(async () => (await send({ ...target, path: "/readyz" }))[0]).toBe(503);
    expect(await send({ ...target, path: "/readyz" })).toEqual([
      503,
      '{"error":50300,"message":"the server is stopping: try again"}',
    ]);
    for (const id of [1, 2, 3]) expect((await create(target, id))[0]).toBe(200);
    expect(await send({ ...target, path: "/healthz" })).toEqual([200, '{"status":"ok"}']);
    // The same Ctrl-C may arrive several times: a signal soon after the first one is ignored.
    await expect
      .poll(() => {
        server.child.kill("SIGTERM");
        return server.child.signalCode;
      })
      .toBe("SIGTERM");
    const { stderr } = await server.finished;
    expect(stderr).toContain("Draining for 1h: not ready, but requests are still accepted");
    expect(stderr).not.toContain("Stopping");
    expect(await listIds(store)).toEqual([1, 2, 3]);
  });

  it("refuses connections after the drain, and has stored every acknowledged plant", async () => {
    const { store, server, target } = await startDraining("1");
    const acknowledged: number[] = [];
    let isRefused = false;
    for (let id = 1; !isRefused; id++) {
      if (id === 2) server.child.kill("SIGTERM");
      try {
        const [status] = await create(target, id);
        if (status === 200) acknowledged.push(id);
      } catch (error) {
        // A connection that was accepted last may be closed before its request arrives.
        isRefused = (error as NodeJS.ErrnoException).code === "ECONNREFUSED";
      }
    }
    const { code, stderr } = await server.finished;
    expect(code).toBe(0);
    expect(stderr.match(/Draining for 1s|Stopping: waiting/g)).toEqual([
      "Draining for 1s",
      "Stopping: waiting",
    ]);
    expect(await listIds(store)).toEqual(expect.arrayContaining(acknowledged));
  });
});

describe.skipIf(!hasServiceManager())("a socket that the service manager opened", () => {
  it.each(["plain", "TLS"])(
    "stays open over a restart, so that no connection is refused (%s)",
    async (kind) => {
      const home = await createTemporaryDirectory();
      const store = `sqlite:${join(home, "plants.db")}`;
      const tls = kind === "TLS" ? (await writeCertificate(home)).flags : [];
      // A variable, such as that of the container image, gives way to the socket.
      const variables = { ...env, PLANTSTORE_HOST: "0.0.0.0", PLANTSTORE_PORT: "1" };
      const args = ["serve", "--store", store, ...tls];
      const service = startServiceManager("tcp", args, { home, env: variables });
      const [url = ""] = await service.urls(1);
      expect(url).toMatch(kind === "TLS" ? /^https:\/\/127\.0\.0\.1:/ : /^http:\/\/127\.0\.0\.1:/);
      const target = toTarget(url);

      const acknowledged: number[] = [];
      const failures = new Set<unknown>();
      let id = 0;
      const createUntilStored = async (): Promise<void> => {
        id++;
        for (let isStored = false; !isStored;) {
          const [status] = await create(target, id).catch((error: unknown) => {
            failures.add((error as NodeJS.ErrnoException).code);
            return [];
          });
          isStored = status === 200;
        }
        acknowledged.push(id);
      };
      await createUntilStored();
      for (let restart = 1; restart <= 2; restart++) {
        service.signal("SIGTERM");
        while (service.ended().length < restart) await createUntilStored();
        for (let count = 0; count < 5; count++) await createUntilStored();
      }
      expect([...failures]).not.toContain("ECONNREFUSED");
      expect(await service.urls(3)).toEqual([url, url, url]);
      expect(service.ended()).toEqual([0, 0]);
      expect(service.log()).toContain("Socket: passed to this process (LISTEN_FDS)");
      expect(service.log()).not.toContain("unencrypted");
      expect(await listIds(store)).toEqual(acknowledged);
    },
    60_000,
  );

  it("may be a Unix socket, whose path is the URL and stays after the end", async () => {
    const home = await createTemporaryDirectory();
    const socketPath = join(home, "plants of all.sock");
    const args = ["serve", "--store", "memory:"];
    const service = startServiceManager(socketPath, args, { home, env });
    const isKnown = process.platform === "linux";
    expect(await service.urls(1)).toEqual([`unix:${isKnown ? socketPath : ""}`]);
    expect(await create({ socketPath }, 1)).toEqual([200, '{"name":"fern"}']);
    service.signal("SIGTERM");
    await expect.poll(() => service.ended()).toEqual([0]);
    // The first connection waits in the socket until the next server listens, which may still open its store.
    let [status, body] = await create({ socketPath }, 2);
    while (status !== 200) {
      expect(body).toContain('"error":50301');
      [status, body] = await create({ socketPath }, 2);
    }
    await service.urls(2);
  });

  it("does not support TLS if it is a Unix socket", async () => {
    const home = await createTemporaryDirectory();
    const args = ["serve", "--store", "memory:", ...(await writeCertificate(home)).flags];
    const service = startServiceManager(join(home, "plants.sock"), args, { home, env });
    await expect.poll(() => service.ended()[0]).toBe(2 << 8);
    expect(service.log()).toContain(
      "error: the socket in LISTEN_FDS is a Unix socket, which does not support TLS: remove --tls-cert, or listen on an address\n",
    );
  });
});
