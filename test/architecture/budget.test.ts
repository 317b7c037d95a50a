/** The budget of packages, and of files that a command loads. `npm run check:budget` applies it. */
import { readdirSync, statSync } from "node:fs";
import { expect, it } from "vitest";
import { findExcesses, measureWeight, toReport } from "../../.build/budget.ts";
import lock from "../../package-lock.json" with { type: "json" };

const dist = new URL("../../dist/", import.meta.url);
const budget = {
  packages: 400,
  createFiles: 30,
  createKilobytes: 300,
  createSources: 45,
  listSources: 60,
};

it("measures the packages of the lock file, and the part of dist that a command loads", async () => {
  const weight = await measureWeight();
  expect(weight.packages).toBe(Object.keys(lock.packages).length - 1);
  const names = readdirSync(dist).filter((name) => name.endsWith(".js"));
  expect(weight.createFiles).toBeGreaterThan(1);
  expect(weight.createFiles).toBeLessThan(names.length);
  const sizes = names.map((name) => statSync(new URL(name, dist)).size);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  expect(weight.createKilobytes * 1000).toBeGreaterThan(statSync(new URL("main.js", dist)).size);
  expect(weight.createKilobytes * 1000).toBeLessThan(bytes);
  for (const sources of [weight.createSources, weight.listSources]) {
    expect(sources).toBeGreaterThan(20);
    expect(sources).toBeLessThan(100);
  }
});

it("accepts numbers up to the budget", () => {
  expect(findExcesses(budget, budget)).toEqual([]);
  expect(findExcesses({ ...budget, packages: 0, createFiles: 1 }, budget)).toEqual([]);
});

it.each([
  ["packages", "401 packages in package-lock.json exceed the budget of 400."],
  ["createFiles", "31 files of dist that a create loads exceed the budget of 30."],
  ["createKilobytes", "301 kB of dist that a create loads exceed the budget of 300."],
  ["createSources", "46 files of src that a create loads exceed the budget of 45."],
  ["listSources", "61 files of src that a list loads exceed the budget of 60."],
] as const)("rejects one more than the budget of %s", (name, problem) => {
  expect(findExcesses({ ...budget, [name]: budget[name] + 1 }, budget)).toEqual([
    `${problem} Remove some, or raise budget.${name} in package.json, in a commit of its own that gives the reason.`,
  ]);
});

it("reports each number next to its budget", () => {
  const weight = {
    packages: 1,
    createFiles: 2,
    createKilobytes: 3,
    createSources: 4,
    listSources: 5,
  };
  expect(toReport(weight, budget)).toBe(
    "1 packages in package-lock.json (budget: 400)\n" +
      "2 files of dist that a create loads (budget: 30)\n" +
      "3 kB of dist that a create loads (budget: 300)\n" +
      "4 files of src that a create loads (budget: 45)\n" +
      "5 files of src that a list loads (budget: 60)\n",
  );
});
