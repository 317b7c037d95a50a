/** Clients whose creates are slow, fail or get no response retry until every plant is in the store. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Agent, RetryAgent } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { mintToken } from "../../src/auth/authenticator.ts";
import { hasCurl } from "../helpers/installed-programs.ts";
import { createStoreUrl, usePostgres } from "../helpers/postgres.ts";
import { parseLines, runCli, startServe } from "../helpers/run-cli.ts";
import { run } from "../helpers/run.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const token = mintToken();
const postgres = usePostgres();

interface TestPlant {
  readonly id: number;
  readonly name: string;
}

const plants = Array.from({ length: 60 }, (_, id): TestPlant => ({ id, name: `fern ${id}` }));

/** Sends plants to a server. @returns the ids with status 200 */
type Client = (url: string, plants: readonly TestPlant[]) => Promise<readonly number[]>;

const sendWithPlantstore: Client = async (url, own) => {
  const home = await createTemporaryDirectory();
  const file = join(home, "plants.ndjson");
  await writeFile(file, own.map((plant) => JSON.stringify(plant)).join("\n"));
  const argv = ["create", file, "--url", url, "--concurrency", "16", "--retry", "50"];
  const { exitCode, stderr } = await runCli(argv, { home, env: { PLANTSTORE_TOKEN: token } });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return own.map(({ id }) => id);
};

const sendWithCurl: Client = async (url, own) => {
  const home = await createTemporaryDirectory();
  return sendEach(own, async (plant) => {
    const { stdout } = await run("curl", [
      "--silent",
      "--fail",
      "--retry",
      "50",
      "--retry-all-errors",
      "--retry-delay",
      "1",
      // Not /dev/null: before a retry curl truncates the output.
      "--output",
      join(home, `${plant.id}`),
      "--write-out",
      "%{http_code}",
      "--header",
      `Authorization: Bearer ${token}`,
      "--header",
      "Content-Type: application/json",
      "--data",
      JSON.stringify(plant),
      `${url}/plants`,
    ]);
    return Number(stdout);
  });
};

const sendWithUndici: Client = async (url, own) => {
  const agent = new RetryAgent(new Agent({ connections: 16 }), {
    methods: ["POST"],
    statusCodes: [503],
    maxRetries: 50,
    minTimeout: 1,
  });
  onTestFinished(() => agent.close());
  return sendEach(own, async (plant) => {
    const { statusCode, body } = await agent.request({
      origin: url,
      path: "/plants",
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(plant),
    });
    await body.dump();
    return statusCode;
  });
};

/** Sends each plant at the same time. @param send returns the status of the last response */
async function sendEach(
  own: readonly TestPlant[],
  send: (plant: TestPlant) => Promise<number>,
): Promise<readonly number[]> {
  const statuses = await Promise.all(own.map(send));
  return own.flatMap(({ id }, index) => (statuses[index] === 200 ? [id] : []));
}

const stores: readonly [name: string, toUrl: () => Promise<string>, servers: number][] = [
  ["one server with SQLite", createSqliteUrl, 1],
  ["two servers with PostgreSQL", () => createStoreUrl(postgres.url), 2],
];

async function createSqliteUrl(): Promise<string> {
  return `sqlite:${join(await createTemporaryDirectory(), "plants.db")}`;
}

async function startFaulty(store: string, statusMode: string): Promise<string> {
  const home = await createTemporaryDirectory();
  const flags = ["--store", store, "--metrics", "main", "--status-mode", statusMode];
  const faults = ["--faults", "latency=0ms..20ms fail=20% drop=20% seed=1"];
  const env = { PLANTSTORE_TOKEN: token };
  return (await startServe([...flags, ...faults], { home, env })).url;
}

async function readFaults(url: string): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = text.matchAll(/^plantstore_faults_total\{kind="(\w+)"\} (\d+)$/gm);
  const entries = [...counts].map(([, kind = "", count]) => [kind, Number(count)] as const);
  return Object.fromEntries<number>(entries);
}

describe.each(stores)(
  "with faults of %s, every plant is stored once, and no status 200 is wrong",
  (...row) => {
    const [, toUrl, servers] = row;
    const clients: readonly [name: string, statusMode: string, client: Client][] = [
      ["plantstore create", "contract", sendWithPlantstore],
      ["curl --fail --retry-all-errors", "contract", sendWithCurl],
      ["undici's RetryAgent", "http", sendWithUndici],
    ];
    it.each(clients.filter(([, , client]) => client !== sendWithCurl || hasCurl()))(
      "for %s in the status mode %s",
      async (_name, statusMode, send) => {
        const store = await toUrl();
        const urls: string[] = [];
        for (let count = 0; count < servers; count++) {
          urls.push(await startFaulty(store, statusMode));
        }
        const sent = await Promise.all(
          urls.map((url, index) =>
            send(
              url,
              plants.filter(({ id }) => id % servers === index),
            ),
          ),
        );
        expect(sent.flat().toSorted((a, b) => a - b)).toEqual(plants.map(({ id }) => id));

        const { stdout } = await runCli(["export", "--store", store]);
        expect(parseLines(stdout)).toEqual(plants);
        for (const url of urls) {
          const { delayed = 0, failed = 0, dropped = 0 } = await readFaults(url);
          expect(Math.min(delayed, failed, dropped)).toBeGreaterThan(0);
        }
      },
    );
  },
);
