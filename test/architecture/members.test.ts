/**
 * Every part that handles plants keeps every member. The members come from the schema, so that a new one fails here by name
 * until each part handles it. `test/store/store-contract.ts` checks the engines in the same way.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type NewPlant, type Plant, toNewPlantJson, toPlantJson } from "../../src/core/plant.ts";
import { memberNames, parsePlant } from "../../src/core/read-plant.ts";
import type { PlantStore } from "../../src/core/store.ts";
import { createClient } from "../../src/library/plant-client.ts";
import { startPlantStore } from "../../src/library/plant-store.ts";
import { toPageResponse } from "../../src/server/docs/page.ts";
import { expectSameMembers, wholePlant } from "../helpers/any-plant.ts";
import { parseNewPlant } from "../helpers/parse-new-plant.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const wholePlants = fc.uniqueArray(wholePlant, {
  selector: ({ id }) => id,
  minLength: 1,
  maxLength: 20,
});
const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const parseLines = (text: string): NewPlant[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => parseNewPlant(toBytes(line)));

/** Runs a command that has to succeed, and returns its standard output. */
async function print(args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCli(args);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return stdout;
}

/** Returns the plants in a memory store that a running server fills. */
async function collect(
  fill: (server: {
    readonly url: string;
    readonly store: PlantStore;
    readonly create: (args: readonly string[], stdin?: string) => Promise<string>;
  }) => Promise<void>,
): Promise<readonly NewPlant[]> {
  await using server = await startServer();
  const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken };
  const create = async (args: readonly string[], stdin = ""): Promise<string> => {
    const { exitCode, stdout, stderr } = await runCli(["create", ...args], { env, stdin });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    return stdout;
  };
  await fill({ ...server, create });
  return await server.store.list({ limit: 10_000 });
}

/** Returns a Plant of a response with the id of its request. */
function withId(id: bigint, plant: Plant | undefined): NewPlant {
  return { id, ...plant } as NewPlant;
}

/** Ways of plants, each with its result. */
const ways: Record<string, (plants: readonly NewPlant[]) => Promise<readonly NewPlant[]>> = {
  "the JSON of a request": async (plants) =>
    plants.map((plant) => parseNewPlant(toBytes(toNewPlantJson(plant)))),
  "the JSON of a response": async (plants) =>
    plants.map((plant) => withId(plant.id, parsePlant(toBytes(toPlantJson(plant))))),
  "a create of the library, and its response": async (plants) => {
    const responses: NewPlant[] = [];
    const stored = await collect(async ({ url }) => {
      const client = createClient({ url, token: testToken });
      for (const plant of plants) {
        const response = await client.create(plant);
        responses.push(withId(plant.id, response.ok ? response.plant : undefined));
      }
    });
    expectSameMembers(stored, plants);
    return responses;
  },
  "a bulk create of the library": (plants) =>
    collect(async ({ url }) => {
      for await (const { status } of createClient({ url, token: testToken }).createMany(plants)) {
        expect(status).toBe("created");
      }
    }),
  "a create with flags": (plants) =>
    collect(async ({ create }) => {
      for (const plant of plants) {
        await create(memberNames.map((member) => `--${member}=${plant[member]}`));
      }
    }),
  "a bulk create of JSON": (plants) =>
    collect(async ({ create }) => {
      await create(["--json", "--quiet", "-"], plants.map(toNewPlantJson).join("\n"));
    }),
  "export and a bulk create of CSV": async (plants) => {
    const csv = await print(["export", "--csv", "--store", await createSqliteStore(plants)]);
    return collect(async ({ create }) => {
      await create(["--csv", "--quiet", "-"], csv);
    });
  },
  export: async (plants) =>
    parseLines(await print(["export", "--store", await createSqliteStore(plants)])),
  get: async (plants) => {
    const store = await createSqliteStore(plants);
    return parseLines(
      await print(["get", "--store", store, "--", ...plants.map(({ id }) => `${id}`)]),
    );
  },
  "backup and restore": async (plants) => {
    const directory = await createTemporaryDirectory();
    const backup = join(directory, "backup");
    const copy = `sqlite:${join(directory, "copy.db")}`;
    await print(["backup", backup, "--store", await createSqliteStore(plants)]);
    await print(["verify", backup]);
    await print(["restore", backup, "--store", copy]);
    return parseLines(await print(["export", "--store", copy]));
  },
  "a seed": async (plants) => {
    await using running = await startPlantStore({ listen: false, seed: plants });
    return await running.all();
  },
  "a file of seeds": async (plants) => {
    const path = join(await createTemporaryDirectory(), "plants.csv");
    const store = await createSqliteStore(plants);
    await writeFile(path, await print(["export", "--csv", "--store", store]));
    await using running = await startPlantStore({ listen: false, seed: path });
    return await running.all();
  },
};

describe("every member of a plant survives", () => {
  it.each(Object.entries(ways))("%s", async (_way, toResult) => {
    await fc.assert(
      fc.asyncProperty(wholePlants, async (plants) => {
        expectSameMembers(await toResult(plants), plants);
      }),
      { numRuns: 3 },
    );
  });

  it.each(memberNames)("the form and the list of the page: %s", (member) => {
    const { body } = toPageResponse({
      url: "http://localhost",
      basePath: "",
      maxBodyBytes: 1,
      onConflict: "reject",
      operations: "all",
    });
    expect(body).toMatch(new RegExp(`<input\\s+id="${member}"\\s+data-json="(string|integer)"`));
    const [, list = ""] = /<table id="list"[^]*?<tr>([^]*?)<\/tr>/.exec(body) ?? [];
    expect(list).toContain(`<th scope="col">${member}</th>`);
  });
});
