/** Each rule fails for servers that break it: they repeat the responses of plantstore with one change. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRawServer } from "../client/scripted-server.ts";
import type { Response } from "./response.ts";
import type { ExpectedResponse, Rule } from "./rule.ts";
import { rules } from "./rules.ts";
import type { RuleResult } from "./run.ts";
import { runOnTestServer } from "./test-run.ts";
import { startServer } from "../helpers/plant-server.ts";

/** Responses that a wrong server sends on a connection. */
interface Script {
  readonly responses: readonly Response[];
  readonly isEnding: boolean;
}

/** Responses of plantstore, by rule. */
const recorded = new Map<Rule, readonly Script[]>();
beforeAll(async () => {
  await using server = await startServer();
  const results = await runOnTestServer(rules, { url: server.url });
  for (const { rule, conversations } of results) {
    const scripts = conversations.map(({ responses }, index) => {
      return { responses, isEnding: rule.exchanges[index]?.thenEnds === true };
    });
    recorded.set(rule, scripts);
  }
});
afterAll(() => recorded.clear());

function toBytes({ status, headers, bodyBytes }: Response): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`HTTP/1.1 ${status} Any\r\n${lines.join("")}\r\n`);
  return Buffer.concat([head, bodyBytes]);
}

/** Runs a rule against a server that follows scripts. */
async function runAgainst(
  rule: Rule,
  scripts: readonly Script[],
  timeoutMs = 20_000,
): Promise<RuleResult> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    const script = scripts[count++];
    const isKept = rule.exchanges[count - 1]?.thenEnds === true && script?.isEnding === false;
    socket.on("error", () => undefined);
    if (!isKept) socket.once("end", () => void socket.end());
    socket.resume().once("data", () => {
      for (const response of script?.responses ?? []) socket.write(toBytes(response));
      if (script?.isEnding) socket.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [result] = await runOnTestServer([rule], { url, timeoutMs });
    return result as RuleResult;
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

function withBody(response: Response, status: number, content: object): Response {
  const body = JSON.stringify(content);
  const bodyBytes = Buffer.from(body);
  const headers = {
    ...response.headers,
    "content-length": String(bodyBytes.length),
    "content-type": "application/json",
  };
  return { status, headers, body, bodyBytes };
}

/** A failure for a success, and a success for a failure. */
function toOpposite(response: Response, expected: ExpectedResponse): Response {
  if (expected.isBodiless) return { ...response, status: 500 };
  return response.status === 200
    ? withBody(response, 400, { error: 49_999, message: "wrong" })
    : withBody(response, 200, { name: "wrong" });
}

/** Returns what a server sends instead of a response. If it is nothing, the connection ends. */
type Change = (response: Response, expected: ExpectedResponse) => readonly Response[];

/** Changes the last response of the last connection, which a rule is about. */
function changeLast(rule: Rule, change: Change): readonly Script[] {
  const scripts = recorded.get(rule) ?? [];
  const script = scripts.at(-1);
  const response = script?.responses.at(-1);
  const expected = [rule.exchanges.at(-1)?.receive ?? []].flat().at(-1);
  if (script === undefined || response === undefined || expected === undefined) return [];
  const changed = change(response, expected);
  const responses = [...script.responses.slice(0, -1), ...changed];
  const isEnding = script.isEnding || changed.length === 0;
  return [...scripts.slice(0, -1), { responses, isEnding }];
}

/** Responses whose body or headers break what a rule checks besides status and content. */
function listDetails(rule: Rule): readonly (readonly [what: string, scripts: readonly Script[]])[] {
  const scripts = recorded.get(rule) ?? [];
  return rule.exchanges.flatMap(({ receive }, exchange) =>
    [receive].flat().flatMap((expected, index) => {
      const { headers = {}, contains, containsNot } = expected;
      const replace = (change: (response: Response) => Response): readonly Script[] =>
        scripts.map((script, at) => ({
          ...script,
          responses: script.responses.map((response, position) =>
            at === exchange && position === index ? change(response) : response,
          ),
        }));
      const names = Object.entries(headers)
        // A separate rule checks the end of a body without a length.
        .filter(([name]) => name !== "Content-Length" && name !== "Transfer-Encoding")
        .map(([name, pattern]) => {
          const changed = replace((response) => {
            const { [name.toLowerCase()]: _, ...others } = response.headers;
            const wrong = pattern === undefined && { [name.toLowerCase()]: "wrong" };
            return { ...response, headers: { ...others, ...wrong } };
          });
          return [`${name} in response ${index + 1}`, changed] as const;
        });
      if (contains === undefined && containsNot === undefined) return names;
      const changed = replace((response) => {
        const { error } = JSON.parse(response.body) as { error?: number };
        const message = `AAAAAAA hunter2\n${"x".repeat(2000)}`;
        return withBody(response, response.status, { error, message, extra: 1 });
      });
      return [...names, [`the body of response ${index + 1}`, changed] as const];
    }),
  );
}

const cases = rules.map((rule) => [`${rule.group}: ${rule.name}`, rule] as const);
const ordinary = cases.filter(([, { isRace }]) => !isRace);

describe("a server that repeats the responses of plantstore passes", () => {
  it.concurrent.each(ordinary)("%s", async (_name, rule) => {
    const { problem } = await runAgainst(rule, recorded.get(rule) ?? []);
    expect(problem).toBeUndefined();
  });
});

describe.each<[wrong: string, change: Change, problem: RegExp]>([
  [
    "accepts instead of rejects, or rejects instead of accepts,",
    (response, expected) => [toOpposite(response, expected)],
    /expected /,
  ],
  ["does not respond to the last request", () => [], /but the server ended the connection/],
  [
    "sends one response too many",
    (response) => [response, response],
    /but received another one|bytes after the last response/,
  ],
])("a server that %s fails", (_wrong, change, problem) => {
  it.concurrent.each(ordinary)("%s", async (_name, rule) => {
    const result = await runAgainst(rule, changeLast(rule, change));
    expect(result.problem).toMatch(problem);
  });
});

describe("a server that keeps the connection fails", () => {
  const ending = ordinary.filter(([, { exchanges }]) => exchanges.at(-1)?.thenEnds);
  it.concurrent.each(ending)("%s", async (_name, rule) => {
    const scripts = recorded.get(rule) ?? [];
    const { problem } = await runAgainst(
      rule,
      scripts.map((script) => ({ ...script, isEnding: false })),
      // The rule waits for this time.
      3000,
    );
    expect(problem).toContain("the server did not end the connection");
  });
});

describe("a server that changes a checked detail fails", () => {
  const detailed = ordinary.filter(([, { exchanges }]) =>
    exchanges.some(({ receive }) =>
      [receive].flat().some((each) => each.headers ?? each.contains ?? each.containsNot),
    ),
  );
  it.concurrent.each(detailed)("%s", async (_name, rule) => {
    const details = listDetails(rule);
    expect(details).not.toEqual([]);
    for (const [what, scripts] of details) {
      const { problem } = await runAgainst(rule, scripts);
      expect(problem, what).toMatch(/the header|the body/);
    }
  });
});

it("a server that accepts every plant fails the race", async () => {
  const [[, rule] = []] = cases.filter(([, { isRace }]) => isRace);
  const url = await openRawServer((socket) => {
    socket.on("data", (bytes) => {
      const [, name = ""] = /"name":"(\w+)"/.exec(bytes.toString()) ?? [];
      const body = JSON.stringify({ name });
      const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
      socket.write(`${head}\r\n\r\n${body}`);
    });
  });
  const [result] = await runOnTestServer([rule as Rule], { url });
  expect(result?.problem).toBe("expected status 200 on one connection, but on 6");
});
