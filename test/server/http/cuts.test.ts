/** Pipelines that a network cuts at any byte: whole, with pauses, at the stop of the server, and with a token that ends. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createAuthenticator, digestToken } from "../../../src/auth/authenticator.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { startHeldServer } from "../../helpers/held-store.ts";
import { startServer, testToken } from "../../helpers/plant-server.ts";
import { openRawConnection, sendRaw, untilRead } from "../../helpers/raw-http.ts";
import { toRawCreate, toRawHead } from "../../helpers/raw-request.ts";

const requests = [toRawCreate(1), toRawCreate(2, "moss"), toRawCreate(3, "rose")];
const pipeline = requests.join("");
const cuts = Array.from({ length: pipeline.length - 1 }, (_, index) => index + 1);
/** Positions at which a request ends. */
const ends = requests.map((_, index) => requests.slice(0, index + 1).join("").length);

it("responds to each request of a pipeline of three that is cut at any byte, with pauses up to 300 ms", async () => {
  await using server = await startServer();
  const results = await Promise.all(
    cuts.map(async (at) => {
      using connection = await sendRaw(server.port, pipeline.slice(0, at));
      await sleep((at % 4) * 100);
      connection.socket.write(pipeline.slice(at));
      return await connection.results(3);
    }),
  );
  expect(results).toEqual(cuts.map(() => ["200", "200", "200"]));
  expect(await server.store.list({ limit: 10 })).toHaveLength(3);
  expect(server.errors).toEqual([]);
});

it("sends 50300 to a client whose pipeline is cut at any byte when the server stops", async () => {
  await using server = await startServer();
  const connections = await Promise.all(
    cuts.map(async (at) => {
      const connection = await sendRaw(server.port, pipeline.slice(0, at));
      await connection.responses(ends.filter((end) => end <= at).length);
      return connection;
    }),
  );
  await untilRead(server.port);
  // A body may arrive for as long.
  await server.server.close(1000);
  const results = await Promise.all(connections.map(({ resultsAtEnd }) => resultsAtEnd()));
  for (const [index, at] of cuts.entries()) {
    const complete = ends.filter((end) => end <= at).map(() => "200");
    const stopped = [...complete, "400 50300"];
    expect(results[index], `${at}`).toEqual(ends.includes(at) ? complete : stopped);
  }
  expect(await server.store.list({ limit: 10 })).toHaveLength(2);
});

const head = `${toRawHead()}Content-Length: 22\r\n\r\n`;

describe("a request in flight and a part of the next one", () => {
  it.each([1, 30, head.length - 1])(
    "do not delay the stop, if the part has %i bytes of the head",
    async (length) => {
      await using server = await startHeldServer();
      using connection = await sendRaw(server.port, toRawCreate(1) + head.slice(0, length));
      await server.held.isWaiting(1);
      await untilRead(server.port);
      const closed = server.server.close(3_600_000);
      server.held.release("created");
      const [first, ...others] = await connection.resultsAtEnd();
      expect(first).toBe("200");
      expect(["", "400 50300"]).toContain(others.join());
      connection.socket.destroy();
      await closed;
    },
  );

  it("are cut off together when the time of the stop is over", async () => {
    await using server = await startHeldServer();
    using connection = await sendRaw(server.port, toRawCreate(1) + head.slice(0, -1));
    await server.held.isWaiting(1);
    await server.server.close(50);
    const results = await connection.resultsAtEnd();
    expect(new Set(results)).toEqual(new Set(["400 50302"]));
  });
});

it.each([
  ["its body", head.length],
  ["a part of its head", 30],
])("rejects a create whose token was revoked before %s arrived", async (_what, at) => {
  const store = await openStore("memory:");
  const digest = digestToken("chosen");
  await store.addToken({ digest, prefix: "", name: "", issuedAtMs: 0 });
  const authenticator = createAuthenticator(store, { ownToken: testToken });
  await using server = await startHeldServer({ authenticator });
  const chosen = (id: number): string => toRawCreate(id, "fern", { token: "chosen" });
  using connection = await openRawConnection(server.port);
  // The head has the length of a token less.
  const cut = at === 30 ? 30 : chosen(2).indexOf("{");
  connection.socket.write(chosen(1) + chosen(2).slice(0, cut));
  await server.held.isWaiting(1);
  await store.endToken({ digest, revokedAtMs: Date.now() });
  // A revocation takes effect within one second.
  await sleep(1000);
  connection.socket.write(chosen(2).slice(cut));
  await untilRead(server.port);
  server.held.release("created");
  expect(await connection.results(2)).toEqual(["200", "400 40102"]);
});

it("rejects a revoked and an expired token although it has read their head before", async () => {
  await using server = await startServer();
  const record = { prefix: "", name: "", issuedAtMs: 0 };
  const digests = { revoked: digestToken("revoked"), expired: digestToken("expired") };
  for (const digest of Object.values(digests)) await server.store.addToken({ digest, ...record });
  using connection = await openRawConnection(server.port);
  let count = 0;
  const send = async (token: string): Promise<string | undefined> => {
    connection.socket.write(toRawCreate(1, "fern", { token }));
    return (await connection.results(++count)).at(-1);
  };
  for (const token of Object.keys(digests)) {
    expect([await send(token), await send(token)]).toEqual(["200", "200"]);
  }
  await server.store.endToken({ digest: digests.revoked, revokedAtMs: Date.now() });
  await server.store.endToken({ digest: digests.expired, expiresAtMs: Date.now() });
  await expect.poll(() => send("revoked")).toBe("400 40102");
  await expect.poll(() => send("expired")).toBe("400 40103");
});

it("looks at a revoked token again, although the server was idle while the body arrived", async () => {
  const store = await openStore("memory:");
  const digest = digestToken("chosen");
  await store.addToken({ digest, prefix: "", name: "", issuedAtMs: 0 });
  const authenticator = createAuthenticator(store);
  await using server = await startServer({ store, authenticator });
  const create = toRawCreate(1, "fern", { token: "chosen" });
  using connection = await sendRaw(server.port, create.slice(0, -5));
  await untilRead(server.port);
  await store.endToken({ digest, revokedAtMs: Date.now() });
  await sleep(1000);
  connection.socket.write(create.slice(-5));
  expect(await connection.results(1)).toEqual(["400 40102"]);
  expect(await store.get(1n)).toBeUndefined();
});
