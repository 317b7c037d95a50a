/** A server with all operations keeps the rules of each, and one without them breaks each rule about them. */
import { describe, expect, it } from "vitest";
import {
  type ContractOperationId,
  contractOperations,
  operations,
} from "../../src/core/contract.ts";
import { type ErrorRow, errorTable, statusModes } from "../../src/core/errors.ts";
import { startServer } from "../helpers/plant-server.ts";
import type { PlantServerOptions } from "../../src/server/server.ts";
import type { Rule } from "./rule.ts";
import { listRules, rules } from "./rules.ts";
import { allOperationsRules } from "./rules/all-operations.ts";
import { runOnTestServer } from "./test-run.ts";

/** Returns the problems of a server with some rules, by their names. */
async function findProblems(tested: readonly Rule[], options: Partial<PlantServerOptions>) {
  await using server = await startServer(options);
  const { statusMode = "contract" } = options;
  const results = await runOnTestServer(tested, { url: server.url, statusMode });
  expect(server.errors).toEqual([]);
  const failed = results.filter(({ problem }) => problem !== undefined);
  return failed.map(({ rule, problem }) => `${rule.name}: ${problem}`);
}

it.each(statusModes)(
  "a server with all operations keeps all rules, with %s",
  async (statusMode) => {
    const options = { operations: "all", basePath: "/v1", statusMode } as const;
    expect(await findProblems(listRules("all"), options)).toEqual([]);
  },
);

it("a server that only creates breaks each rule about the other operations", async () => {
  expect(await findProblems(allOperationsRules, {})).toHaveLength(allOperationsRules.length);
});

it("a server with all operations breaks exactly the rules of one that only creates", async () => {
  const ofCreate = rules.filter(({ set }) => set === "create");
  expect(ofCreate.length).toBeGreaterThan(2);
  expect(await findProblems(ofCreate, { operations: "all" })).toHaveLength(ofCreate.length);
});

/** The requests of all rules, each with the response that a rule expects. */
const expectations = listRules("all").flatMap(({ exchanges }) =>
  exchanges.flatMap(({ send, receive }) => {
    const requests = [send].flat().filter((step) => typeof step === "object" && "method" in step);
    const responses = [receive].flat();
    return requests.map(({ method, target }, index) => ({
      line: `${method} ${target}`,
      response: responses.length === requests.length ? responses[index] : undefined,
    }));
  }),
);

function findExpectations(id: ContractOperationId) {
  const { method, path } = operations[id];
  const pattern = new RegExp(`^${method} \\$BASE${path.replaceAll(/\{\w+\}/g, "[^/]+")}(?:\\?|$)`);
  return expectations.flatMap(({ line, response }) =>
    response !== undefined && pattern.test(line) ? [response] : [],
  );
}

describe.each(contractOperations.all)("the operation %s", (id) => {
  it("has a rule that it succeeds", () => {
    const statuses = findExpectations(id).map(({ status }) => status);
    expect(statuses.some((status) => status === 200 || status === 204)).toBe(true);
  });

  it("is named by the row of each error that its rules expect", () => {
    const rows = findExpectations(id).flatMap(({ error }): readonly ErrorRow[] =>
      error === undefined ? [] : [errorTable[error]],
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ only }) => only?.includes(id) === false)).toEqual([]);
  });
});

it("each rule has a unique name", () => {
  const names = [...rules, ...allOperationsRules].map(({ group, name }) => `${group}: ${name}`);
  expect(names).toEqual([...new Set(names)]);
});
