/** plantstore keeps each rule of the contract, through the transport of the test project and in both status modes. */
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { errorTable, type StatusMode, statusModes } from "../../src/core/errors.ts";
import { toPlantJson } from "../../src/core/plant.ts";
import { parsePlant } from "../../src/core/read-plant.ts";
import { listAll } from "../helpers/all-plants.ts";
import { startServer, type TestServer, testToken } from "../helpers/plant-server.ts";
import { checkResponse } from "../helpers/raw-http.ts";
import { examples, toErrorBody } from "./examples.ts";
import { converseByFetch, isFetchable } from "./fetch.ts";
import type { Response } from "./response.ts";
import { halfClose, type Rule } from "./rule.ts";
import { rules } from "./rules.ts";
import { idsPerRule, type RuleResult, toPlaceholders } from "./run.ts";
import { firstId, runOnTestServer } from "./test-run.ts";

const isFetch = inject("transport").fetch;
const tested = isFetch ? rules.filter(isFetchable) : rules;

/** A server, and the results of the rules. */
interface TestedServer {
  readonly server: TestServer;
  readonly results: readonly RuleResult[];
}

const runs = new Map<StatusMode, TestedServer>();
beforeAll(async () => {
  for (const statusMode of statusModes) {
    const server = await startServer({ basePath: "/v1", statusMode });
    const results = await runOnTestServer(tested, {
      url: server.url,
      statusMode,
      ...(isFetch && {
        converse: (exchange, values) => converseByFetch(server.server.fetch, exchange, values),
      }),
    });
    runs.set(statusMode, { server, results });
  }
});
afterAll(async () => {
  for (const { server } of runs.values()) await server.close();
});

function getRun(mode: StatusMode): TestedServer {
  return runs.get(mode) ?? expect.unreachable();
}

const isOfCreates = ({ rule }: RuleResult): boolean => rule.heading !== "Other paths";
const toResponses = ({ conversations }: RuleResult): readonly Response[] =>
  conversations.flatMap(({ responses }) => responses).filter(({ status }) => status !== 100);

describe.each(statusModes)("with the status mode %s", (mode) => {
  it.each(tested.map((rule, index) => [`${rule.group}: ${rule.name}`, index] as const))(
    "%s",
    (_name, index) => {
      expect(getRun(mode).results[index]?.problem).toBeUndefined();
    },
  );

  it("each response is as the interface description says", () => {
    for (const response of getRun(mode).results.filter(isOfCreates).flatMap(toResponses)) {
      const isBodiless = response.body === "" && response.status === 405;
      if (!isBodiless) checkResponse(response, mode);
      expect(response.headers).toMatchObject({
        "content-type": "application/json",
        "content-length": expect.stringMatching(/^\d+$/) as string,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      });
      expect(response.headers["allow"]).toBe(response.status === 405 ? "POST" : undefined);
      expect(response.headers).not.toHaveProperty("server");
      expect(response.headers).not.toHaveProperty("x-powered-by");
    }
  });

  it("each Error has exactly its two members, and a message of one line", () => {
    const errors = getRun(mode).results.filter(isOfCreates).flatMap(toResponses).filter(isError);
    expect(errors.length).toBeGreaterThan(100);
    for (const { body } of errors) {
      const error = JSON.parse(body) as { readonly message: string };
      expect(Object.keys(error)).toEqual(["error", "message"]);
      expect(error.message).toMatch(/^[^\n\r]{10,}$/);
      expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(1000);
    }
  });

  it("each response before the server ends a connection announces the end", () => {
    const ended = getRun(mode).results.flatMap(({ rule, conversations }) =>
      conversations.filter((_, index) => {
        const { thenEnds, send } = rule.exchanges[index] ?? expect.unreachable();
        return thenEnds && ![send].flat().includes(halfClose);
      }),
    );
    expect(ended.length).toBeGreaterThan(isFetch ? -1 : 50);
    for (const { responses } of ended) {
      expect(responses.at(-1)?.headers["connection"]).toBe("close");
    }
  });

  it("each stored plant is one that a response acknowledged", async () => {
    const { server, results } = getRun(mode);
    const acknowledged = results.map(
      (result) =>
        new Set(
          toResponses(result).flatMap(({ body, bodyBytes }) => (parsePlant(bodyBytes) ? body : [])),
        ),
    );
    const plants = await listAll(server.store);
    const stored = plants.filter(({ name }) => name !== "plantstore conform");
    expect(stored.length).toBeGreaterThan(tested.length / 3);
    for (const plant of stored) {
      const digits = BigInt(`${plant.id}`.slice(-15));
      const bodies = acknowledged[Number((digits - firstId) / BigInt(idsPerRule))];
      expect(bodies).toContain(toPlantJson(plant));
    }
  });

  it("no error of the server is reported", () => {
    expect(getRun(mode).server.errors).toEqual([]);
  });
});

const isError = ({ body }: Response): boolean => body.startsWith('{"error"');

/** Returns a response without the headers that differ from one to the next. */
function toComparable({ status, headers, body }: Response, { exchanges }: Rule) {
  const ignored = new Set(["date", "x-request-id"]);
  // The server may see the end of the client, or of a body that it rejects, before or after it sends the response.
  const isRace =
    exchanges.some(({ send }) => [send].flat().includes(halfClose)) ||
    body.includes(`"error":${errorTable.bodyTooLarge.error},`);
  if (isRace) for (const name of ["connection", "keep-alive"]) ignored.add(name);
  const compared = Object.entries(headers).filter(([name]) => !ignored.has(name));
  return { status, headers: Object.fromEntries(compared), body };
}

it("the responses of both status modes differ only in the status", () => {
  const httpResults = getRun("http").results;
  for (const [index, result] of getRun("contract").results.entries()) {
    const { rule } = result;
    if (rule.isRace || !isOfCreates(result)) continue;
    const expected = toResponses(result).map((response) => {
      const { error } = (isError(response) ? JSON.parse(response.body) : {}) as { error?: number };
      const status = error === undefined ? response.status : Math.trunc(error / 100);
      return toComparable({ ...response, status }, rule);
    });
    const received = toResponses(httpResults[index] ?? expect.unreachable());
    expect(received.map((response) => toComparable(response, rule))).toEqual(expected);
  }
});

/** Results of the examples, each with the index of its rule. */
const ofExamples = examples.flatMap((example) => {
  const { error, when } = errorTable[example.error];
  const index = tested.findIndex(({ name }) => name === `Error ${error}: ${when}`);
  if (index >= 0) return [[example.error, example, index] as const];
  // Some requests are not possible with fetch.
  return isFetch ? [] : expect.unreachable(`no rule has the example of ${example.error}`);
});

it.each(ofExamples)("the Error of the example of %s is as it says", (_kind, example, index) => {
  const { server, results } = getRun("contract");
  const { body, headers } = toResponses(results[index] ?? expect.unreachable()).at(-1) ?? {};
  const values = toPlaceholders({ url: server.url, token: testToken, firstId }, index);
  expect(body).toBe(JSON.stringify(toErrorBody(example, values)));
  const expected = (example.headers ?? []).map(([name, value]) => [name.toLowerCase(), value]);
  expect(headers).toMatchObject(Object.fromEntries(expected));
});
