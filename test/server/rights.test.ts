/** What a token allows: every other operation gets 40300, before its parameters and its body. */
import { expect, it } from "vitest";
import { digestToken, mintToken } from "../../src/auth/authenticator.ts";
import type { ContractOperationId } from "../../src/core/contract.ts";
import type { PlantServerOptions } from "../../src/server/server.ts";
import { startServer } from "../helpers/plant-server.ts";

const requests: Readonly<Record<ContractOperationId, readonly [method: string, target: string]>> = {
  create: ["POST", "/plants"],
  list: ["GET", "/plants?limit=none"],
  delete: ["DELETE", "/plants/fern"],
};
/** The errors of the requests above: each breaks a rule of its operation. */
const ownErrors = { create: 41500, list: 42207, delete: 42202 };

/** Starts a server, and sends each request with a token that allows some operations. */
async function sendAll(
  allow: readonly ContractOperationId[] | undefined,
  options: Partial<PlantServerOptions> = {},
): Promise<Record<string, Response>> {
  await using server = await startServer({ operations: "all", ...options });
  const token = mintToken();
  const digest = digestToken(token);
  await server.store.addToken({ digest, prefix: "pst_test", name: "", issuedAtMs: 0, allow });
  const responses: Record<string, Response> = {};
  for (const [id, [method, target]] of Object.entries(requests)) {
    const headers = { authorization: `Bearer ${token}` };
    responses[id] = await server.fetch(server.url + target, { method, headers });
  }
  return responses;
}

it.each<[rule: string, allow: readonly ContractOperationId[] | undefined]>([
  ["a token without rights of its own allows all", undefined],
  ["a token allows one operation", ["create"]],
  ["a token allows several operations", ["list", "delete"]],
])("%s", async (_rule, allow) => {
  const responses = await sendAll(allow);
  for (const [id, response] of Object.entries(responses)) {
    const { error } = (await response.json()) as { readonly error: number };
    const operation = id as ContractOperationId;
    const isAllowed = allow?.includes(operation) ?? true;
    expect([operation, error]).toEqual([operation, isAllowed ? ownErrors[operation] : 40300]);
  }
});

it("the error says what the token may not do, with the challenge of RFC 6750", async () => {
  const { delete: response } = await sendAll(["create", "list"], { statusMode: "http" });
  expect(response?.status).toBe(403);
  expect(response?.headers.get("www-authenticate")).toBe(
    'Bearer realm="plantstore", error="insufficient_scope"',
  );
  expect(await response?.json()).toEqual({
    error: 40300,
    message: "this token may not delete plants: use another one",
  });
});
