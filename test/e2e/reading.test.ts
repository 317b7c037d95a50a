/** The built command reads a store that it also serves. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { NewPlant } from "../../src/core/plant.ts";
import { openStore } from "../../src/store/open-store.ts";
import { serveBinary } from "../helpers/binary-server.ts";

/** The default store. */
const toStore = (home: string): readonly string[] => [
  "--store",
  `sqlite:${join(home, ".local/share/plantstore/plants.db")}`,
];

it("list, get and export print a plant as soon as a running server created it", async () => {
  const { home, run, stop } = await serveBinary();
  const line = '{"id":-5,"name":"fern\\u0000","tag":"pot"}\n';
  expect(await run(["create"], line)).toMatchObject({ code: 0 });

  const printed = { code: 0, stdout: line, stderr: "" };
  for (const args of [["get", "-5"], ["list", "--tag", "pot"], ["export"]]) {
    expect(await run([...args, ...toStore(home)])).toEqual(printed);
  }
  expect(await stop()).toMatchObject({ code: 0 });

  expect(await run(["get", "-5", ...toStore(home)])).toEqual(printed);
  expect(await readdir(join(home, ".local/share/plantstore"))).toEqual(["plants.db"]);
});

/** The recipe of the manual for moving a store, without the names of the stores. */
async function readMovingRecipe(): Promise<string[]> {
  const topic = await readFile(new URL("../../src/manual/storage.md", import.meta.url), "utf8");
  const recipe = /^ *plantstore export --store sqlite:old.db \|\n *plantstore (.*) --url \S+$/m;
  return recipe.exec(topic)?.[1]?.split(" ") ?? [];
}

it.each<[what: string, plants: readonly NewPlant[]]>([
  ["an empty store", []],
  ["a store with a single plant", [{ id: 1n, name: "fern" }]],
  [
    "a store with all kinds of plants",
    [
      { id: -(2n ** 63n), name: "" },
      { id: -1n, name: "a\0\u001f\u2028", tag: "" },
      { id: 9_007_199_254_740_993n, name: "mönstera 🌿", tag: '␛␀ \\n "quoted"' },
      { id: 2n ** 63n - 1n, name: "x".repeat(100_000), tag: "pot" },
      ...Array.from({ length: 20_000 }, (_, index) => ({ id: BigInt(index), name: `n ${index}` })),
    ],
  ],
])("the recipe for moving a store copies %s", async (_, plants) => {
  const server = await serveBinary();
  const old = `sqlite:${join(server.home, "old.db")}`;
  const store = await openStore(old);
  await Promise.all(plants.map((plant) => store.create(plant, "reject")));
  await store.close();

  const exporting = server.start(["export", "--store", old]);
  const creating = server.start(await readMovingRecipe());
  exporting.child.stdout.pipe(creating.child.stdin);
  expect(await creating.finished).toEqual({ code: 0, stdout: "", stderr: "" });

  const exported = await exporting.finished;
  expect(exported.stdout.match(/\n/g) ?? []).toHaveLength(plants.length);
  expect(await server.run(["export", ...toStore(server.home)])).toEqual(exported);
});
