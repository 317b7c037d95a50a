/** The examples of the topics run and try: a container, a manifest for Kubernetes, and units of systemd. */
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { serveOptions } from "../../src/cli/options/local.ts";
import { serveBinary } from "../helpers/binary-server.ts";
import { createCertificate } from "../helpers/certificate.ts";
import { findProgram } from "../helpers/installed-programs.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { startProxy } from "../helpers/proxies.ts";
import { run } from "../helpers/run.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const root = new URL("../../", import.meta.url);
const topics = ["run", "try"].map((name) => new URL(`src/manual/${name}.md`, root));
const manual = (await Promise.all(topics.map((path) => readFile(path, "utf8")))).join("\n");
const containerFile = await readFile(new URL(".containerfile", root), "utf8");
const dataDirectory = /PLANTSTORE_DATA_DIR=(\S+)/.exec(containerFile)?.[1];

/** Reads the blocks of code in a language below a heading. */
function readBlocks(heading: string, language: string): readonly string[] {
  const [, rest = ""] = manual.split(`\n## ${heading}\n`);
  const [section = ""] = rest.split("\n## ");
  const blocks = section.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"));
  return [...blocks].map(([, block = ""]) => block);
}

/** The time in which a server stops, in seconds: `--drain`, and the default of `--shutdown-timeout`. */
function toStopSeconds(drain: string): number {
  return Number(drain) + serveOptions.shutdownTimeoutMs.default / 1000;
}

/** Sets modes as a kubelet does for `fsGroup`: the group may read and write. */
async function mountWithGroup(directory: string): Promise<void> {
  const names = await readdir(directory, { recursive: true });
  for (const path of [directory, ...names.map((name) => join(directory, name))]) {
    const entry = await stat(path);
    await chmod(path, entry.mode | (entry.isDirectory() ? 0o2770 : 0o660));
  }
}

/** An object of Kubernetes. */
interface Manifest {
  readonly kind: string;
  readonly spec: object;
}

it("the container starts again after a failure, with podman and with Compose", () => {
  const [commands = ""] = readBlocks("Container", "sh");
  expect(commands).toMatch(/^podman run .*--restart always/m);
  const [compose = ""] = readBlocks("Container", "yaml");
  const { services, volumes } = parse(compose) as {
    services: Record<string, Readonly<Record<string, unknown>>>;
    volumes: object;
  };
  expect(Object.keys(volumes)).toEqual(["plants"]);
  expect(services["plants"]).toMatchObject({
    restart: "always",
    healthcheck: { test: ["CMD", "plantstore", "ping"] },
    volumes: [`plants:${dataDirectory}`],
  });
});

describe("the manifest for Kubernetes", () => {
  const [text = ""] = readBlocks("Kubernetes", "yaml");
  const [claim, deployment, service] = parseAllDocuments(text).map(
    (document) => document.toJS({}) as Manifest,
  );

  it("replaces its pod, reads the token from the Secret, and probes the server", () => {
    expect(claim).toMatchObject({ kind: "PersistentVolumeClaim", metadata: { name: "plants" } });
    const labels = { app: "plantstore" };
    const probe = (path: string) => ({ httpGet: { path, port: 7526 } });
    expect(deployment).toMatchObject({
      kind: "Deployment",
      spec: {
        replicas: 1,
        strategy: { type: "Recreate" },
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            enableServiceLinks: false,
            securityContext: { runAsNonRoot: true, fsGroup: 1000 },
            containers: [
              {
                envFrom: [{ secretRef: { name: "plantstore" } }],
                livenessProbe: probe("/healthz"),
                readinessProbe: probe("/readyz"),
                volumeMounts: [{ name: "plants", mountPath: dataDirectory }],
              },
            ],
            volumes: [{ name: "plants", persistentVolumeClaim: { claimName: "plants" } }],
          },
        },
      },
    });
    expect(service).toMatchObject({
      kind: "Service",
      spec: { selector: labels, ports: [{ port: 7526 }] },
    });
  });

  it("starts a second time, after its volume was mounted with fsGroup", async () => {
    const home = await createTemporaryDirectory();
    const [command = ""] = readBlocks("Kubernetes", "sh");
    // Saves the Secret in a file.
    await writeFile(join(home, "kubectl"), '#!/bin/sh\nexec cat > "$HOME/secret"\n', {
      mode: 0o755,
    });
    const path = [home, process.env["PATH"]].join(delimiter);
    await run("sh", ["-euc", command], { env: { HOME: home, PATH: path } });
    const secret = await readFile(join(home, "secret"), "utf8");
    expect(secret).toMatch(/^[A-Za-z0-9]{43}$/);

    const volume = join(home, "volume");
    await mkdir(volume);
    const env = {
      PLANTSTORE_DATA_DIR: volume,
      PLANTSTORE_CONFIG_DIR: join(volume, "config"),
      PLANTSTORE_TOKEN: secret,
    };
    const create = ["create", "--id", "1", "--name", "fern"];
    for (const result of ["created", "unchanged"]) {
      const server = await serveBinary([], { home, env });
      const { code, stderr } = await server.run([...create, "--verbose"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(result) });
      expect(await server.stop()).toMatchObject({ code: 0 });
      await mountWithGroup(volume);
    }
  });
});

it.each([
  ["Container", /stop_grace_period: (\d+)s/, /PLANTSTORE_DRAIN: (\d+)/],
  ["Kubernetes", /terminationGracePeriodSeconds: (\d+)/, /PLANTSTORE_DRAIN, value: "(\d+)"/],
])("%s gives more time to stop than the server needs", (heading, time, drainTime) => {
  const [text = ""] = readBlocks(heading, "yaml");
  const drain = drainTime.exec(text)?.[1] ?? "";
  expect(Number(time.exec(text)?.[1])).toBeGreaterThan(toStopSeconds(drain));
});

describe("the units of systemd", () => {
  const units = ["plantstore.service", "plantstore.service.d/postgresql.conf", "plantstore.socket"];
  const blocks = readBlocks("systemd", "ini");

  it("try again until PostgreSQL responds", () => {
    const [, dropIn = ""] = blocks;
    const [, unit = "", service = ""] =
      /^\[Unit\]\n([^]*)\n\[Service\]\n([^]*)$/.exec(dropIn) ?? [];
    expect(unit.trim().split("\n")).toEqual([
      "After=network-online.target",
      "Wants=network-online.target",
      "StartLimitIntervalSec=0",
    ]);
    expect(service.split("\n")).toContain("RestartSec=5");
    expect(blocks[0]).toContain("\nRestart=on-failure\n");
  });

  it.runIf(findProgram("systemd-analyze"))("pass systemd-analyze verify", async () => {
    const directory = await createTemporaryDirectory();
    const [demo = ""] = readBlocks("Keep it running", "ini");
    const files = new Map(units.map((name, index) => [name, blocks[index] ?? ""]));
    files.set("plantstore-demo.service", demo);
    await mkdir(join(directory, "plantstore.service.d"));
    for (const [name, content] of files) {
      expect(manual).toContain(`/etc/systemd/system/${name}`);
      await writeFile(join(directory, name), content);
    }
    const paths = [...files.keys()]
      .filter((name) => !name.endsWith(".conf"))
      .map((name) => join(directory, name));
    // The colon keeps the directories of the machine.
    const env = { ...process.env, SYSTEMD_UNIT_PATH: `${directory}:` };
    const verified = await run("systemd-analyze", ["verify", "--man=no", ...paths], { env });
    expect(verified).toEqual({ stdout: "", stderr: "" });
  });
});

it.runIf(findProgram("nginx"))(
  "nginx in front of a documentation site limits creates alone, and its errors reach a page",
  async () => {
    const [configuration = ""] = readBlocks("Publish it", "nginx");
    const token = "try-it-on-docs.example.org";
    const env = { PLANTSTORE_TOKEN: token };
    const server = await serveBinary(["--demo"], { env });
    const port = Number(new URL(server.url).port);
    const { cert, key } = createCertificate("plants.example.org");
    const certificates = await createTemporaryDirectory();
    await writeFile(join(certificates, "fullchain.pem"), cert);
    await writeFile(join(certificates, "privkey.pem"), key);
    const url = await startProxy("nginx", [port, port], () =>
      configuration
        .replace("listen 443 ssl", "listen 80")
        .replaceAll("/etc/letsencrypt/live/plants.example.org", certificates),
    );
    const send = async (path: string, init: RequestInit) => {
      const { status, headers } = await fetch(url + path, init);
      return `${status} ${headers.get("retry-after")}`;
    };
    const readError = async (response: Response) => ({
      status: response.status,
      type: response.headers.get("content-type"),
      origin: response.headers.get("access-control-allow-origin"),
      retryAfter: response.headers.get("retry-after"),
      error: ((await response.json()) as { error: number }).error,
    });
    const expected = {
      status: 400,
      type: "application/json",
      origin: "https://docs.example.org",
    };
    const large = await postPlant(url, token, { id: 1, name: "x".repeat(2_000_000) });
    expect(await readError(large)).toEqual({ ...expected, retryAfter: null, error: 41300 });

    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, id) => postPlant(url, token, { id, name: "fern" })),
    );
    const limited = responses.filter(({ status }) => status !== 200);
    expect(limited.length).toBeLessThan(60);
    const [first = expect.unreachable()] = limited;
    expect(await readError(first)).toEqual({ ...expected, retryAfter: "1", error: 50301 });

    const preflight = {
      origin: "https://docs.example.org",
      "access-control-request-method": "POST",
    };
    for (let count = 0; count < 30; count++) {
      expect(await send("/readyz", {})).toBe("200 null");
      expect(await send("/plants", { method: "OPTIONS", headers: preflight })).toBe("204 null");
    }
  },
);
