/** Proxies with the configurations of the manual, in front of two built servers on one store. */
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testToken } from "../helpers/plant-server.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { findFreePort } from "../helpers/postgres-server.ts";
import { findProgram } from "../helpers/installed-programs.ts";
import { type ProxyName, startProxy } from "../helpers/proxies.ts";
import { runBinary, startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const env = { PLANTSTORE_TOKEN: testToken };

/** Starts two servers with a proxy in front of them. */
async function startBehind(name: ProxyName) {
  const home = await createTemporaryDirectory();
  const store = `sqlite:${join(home, "plants.db")}`;
  const ports = [await findFreePort(), await findFreePort()] as const;
  const startServer = async (port: number) => {
    const flags = ["--store", store, "--drain", "2", "--max-body", "4MiB"];
    const server = startBinary(["serve", "--port", `${port}`, ...flags], { home, env });
    await server.firstLine;
    return server;
  };
  const servers = [await startServer(ports[0]), await startServer(ports[1])];
  const url = await startProxy(name, ports);
  return { home, url, ports, servers, startServer };
}

async function post(url: string, id: number): Promise<string> {
  const response = await postPlant(url, testToken, { id, name: "fern" });
  return `${response.status} ${await response.text()}`;
}

const proxies = ["nginx", "haproxy", "caddy"] as const;

describe.each(proxies)("%s with the configuration of the manual", (name) => {
  it.runIf(findProgram(name))(
    "passes a bulk, a large plant and a rolling restart without a failed create",
    async () => {
      const { home, url, ports, servers, startServer } = await startBehind(name);
      const large = JSON.stringify({ id: 5001, name: "fern".repeat(400_000) });
      const lines = Array.from({ length: 5000 }, (_, id) => `{"id":${id},"name":"fern"}`);
      const stdin = `${[...lines, large].join("\n")}\n`;
      const args = ["create", "--json", "--quiet", "--url", url, "-"];
      const bulk = await runBinary(args, { home, env, stdin });
      expect(bulk).toMatchObject({ code: 0, stdout: "" });

      const failed: string[] = [];
      let isOver = false;
      let nextId = 10_000;
      const clients = Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const id = nextId++;
          let outcome = await post(url, id).catch(String);
          // Caddy does not send a create again whose connection broke: its client does.
          while (name === "caddy" && outcome.includes('"error":50302')) {
            outcome = await post(url, id).catch(String);
          }
          if (!outcome.startsWith("200 ")) failed.push(outcome);
        }
      });
      for (const [index, port] of ports.entries()) {
        servers[index]?.child.kill("SIGTERM");
        await servers[index]?.finished;
        servers[index] = await startServer(port);
      }
      isOver = true;
      await Promise.all(clients);
      expect(failed).toEqual([]);
      expect(nextId).toBeGreaterThan(10_100);

      for (const { child } of servers) {
        child.kill("SIGKILL");
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      }
      // Only HAProxy knows that no server got the request.
      const error = name === "haproxy" ? 50301 : 50302;
      const message = "no plant store responds";
      expect((await post(url, 1)).trimEnd()).toBe(`400 ${JSON.stringify({ error, message })}`);
    },
    60_000,
  );
});

it.runIf(findProgram("nginx"))(
  "nginx with the paths of the manual reaches a server with a base path, its page and its operational paths",
  async () => {
    const home = await createTemporaryDirectory();
    const port = await findFreePort();
    const flags = ["--base-path", "/v1", "--public-url", "http://plants.example.org/v1"];
    const store = `sqlite:${join(home, "plants.db")}`;
    const args = ["serve", "--port", `${port}`, "--store", store, ...flags];
    const server = startBinary(args, { home, env });
    await server.firstLine;
    const url = await startProxy("nginx", [port, port], ([all = "", paths = ""]) =>
      all.replace(/location \/ \{[^}]*\}/, () => paths),
    );
    expect(await post(`${url}/v1`, 1)).toBe('200 {"name":"fern"}');
    for (const path of ["/docs", "/openapi.json", "/healthz", "/readyz"]) {
      const response = await fetch(url + path);
      expect({ path, status: response.status }).toEqual({ path, status: 200 });
    }
    expect(await (await fetch(`${url}/docs`)).text()).toContain(
      "http://plants.example.org/v1/plants",
    );
    expect((await fetch(`${url}/plants`)).headers.get("x-request-id")).toBe(null);
    server.child.kill("SIGKILL");
    await server.finished;
    expect(await post(`${url}/v1`, 1)).toContain('"error":50302');
  },
);
