/** The built command over TLS: plants of all sizes, sent in bulk. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { listStored } from "../helpers/all-plants.ts";
import { serveBinary } from "../helpers/binary-server.ts";
import { writeCertificate } from "../helpers/certificate.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const token = "chosen";

it.each<[size: string, concurrency: number, count: number, toLength: (id: number) => number]>([
  ["20 bytes", 1024, 20_000, () => 20],
  ["1.5 to 8 kB", 256, 2000, (id) => 1500 + ((id * 7919) % 6500)],
  ["8 to 30 kB", 256, 500, (id) => 8000 + ((id * 7919) % 22_000)],
  ["20 bytes to 1 MB", 256, 60, (id) => Math.ceil(20 * 50_000 ** (id / 60))],
])("names of %s, %i in flight: no attempt fails", async (_size, concurrency, count, toLength) => {
  const home = await createTemporaryDirectory();
  const { certFile, flags } = await writeCertificate(home);
  const store = `sqlite:${join(home, "plants.db")}`;
  const env = { PLANTSTORE_TOKEN: token, NODE_EXTRA_CA_CERTS: certFile };
  const server = await serveBinary(["--store", store, ...flags], { home, env });
  const url = server.url.replace("127.0.0.1", "localhost");

  const names = Array.from({ length: count }, (_, index) =>
    `${index} `.repeat(toLength(index + 1)).slice(0, toLength(index + 1)),
  );
  const plants = names.map((name, index) => ({ id: index + 1, name }));
  const input = plants.map((plant) => `${JSON.stringify(plant)}\n`).join("");
  const args = ["create", "-", "--url", url, "--concurrency", String(concurrency)];
  const created = await server.run(args, input);
  expect(created).toMatchObject({ code: 0, stderr: "" });
  expect(created.stdout.match(/"status":"created"/g)).toHaveLength(count);

  const { stderr } = await server.stop();
  expect(stderr.match(/"status":200/g)).toHaveLength(count);
  expect(stderr).not.toMatch(/"status":[45]/);
  const stored = await listStored(store);
  expect(stored.map(({ name }) => name)).toEqual(names);
});
