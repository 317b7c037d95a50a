/** Requests for pages of plants: how many are read and wait, and what becomes of those that wait. */
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { createAuthenticator, digestToken } from "../../src/auth/authenticator.ts";
import type { NewPlant } from "../../src/core/plant.ts";
import { Admission } from "../../src/server/admission.ts";
import { PageQueue } from "../../src/server/page-queue.ts";
import type { ServerRequest } from "../../src/server/request.ts";
import { openStore } from "../../src/store/open-store.ts";
import { toStatusResponse } from "../../src/server/response.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { type RawConnection, sendRaw } from "../helpers/raw-http.ts";
import { toRawCreate, toRawHead } from "../helpers/raw-request.ts";

const maxPageBytes = 1024 * 1024;
const toPage = (after: number, token = testToken): string =>
  `${toRawHead({ method: "GET", target: `/plants?after=${after}`, token })}\r\n`;

/** Starts a server whose store keeps reads waiting. */
async function startHeldPages(options: Parameters<typeof startServer>[0] = {}) {
  const reads: { after: number | undefined; end: () => void }[] = [];
  let released = 0;
  const listCommitted = ({ after }: { after?: bigint | undefined }) =>
    new Promise<readonly NewPlant[]>((resolve) => {
      reads.push({ after: Number(after), end: () => resolve([]) });
    });
  const store = await openStore("memory:");
  const server = await startServer({
    operations: "all",
    store: { ...store, listCommitted },
    ...options,
  });
  return {
    ...server,
    /** The parameter of each read that has begun. */
    begun: () => reads.map(({ after }) => after),
    /** Ends the oldest read in progress. */
    release: (): void => reads[released++]?.end(),
  };
}

/** Sends a request for a page on each of some connections, in their order. */
async function askForPages(
  server: Awaited<ReturnType<typeof startHeldPages>>,
  count: number,
): Promise<RawConnection[]> {
  const connections: RawConnection[] = [];
  for (let after = 1; after <= count; after++) {
    connections.push(await sendRaw(server.port, toPage(after)));
    if (after <= 2) await expect.poll(server.begun).toHaveLength(after);
  }
  return connections;
}

it("lets 32 pages wait behind two, and refuses a further one at once", async () => {
  await using server = await startHeldPages();
  const connections = await askForPages(server, 35);
  const answers = await Promise.race(
    connections.map(async (connection) => [await connection.responses(1), connection] as const),
  );
  expect(answers[0][0]?.headers["retry-after"]).toBe("1");
  expect(await answers[1].results(1)).toEqual(["400 50301"]);
  expect(server.begun()).toHaveLength(2);
  expect(server.server.readLoad()).toMatchObject({ waitingBytes: 2 * maxPageBytes });
  using creating = await sendRaw(server.port, toRawCreate(1));
  expect(await creating.results(1)).toEqual(["200"]);
  for (let count = 2; count <= 34; count++) {
    server.release();
    if (count < 34) await expect.poll(() => server.begun().length).toBeGreaterThan(count);
  }
  server.release();
  await expect.poll(() => server.server.readLoad()).toMatchObject({ waitingBytes: 0 });
});

it("refuses a page if pages take up half of the memory", async () => {
  await using server = await startHeldPages({ maxWaitingBytes: 2 * maxPageBytes });
  const [first, second] = await askForPages(server, 1).then(async ([connection]) => [
    connection,
    await sendRaw(server.port, toPage(2)),
  ]);
  expect(await second?.results(1)).toEqual(["400 50301"]);
  server.release();
  expect(await first?.results(1)).toEqual(["200"]);
});

it("begins one page in a turn of the event loop", async () => {
  const limits = { maxBodyBytes: 1, maxInflight: 1, maxConnections: 1 };
  const admission = new Admission({ ...limits, requestTimeoutMs: 1000, idleTimeoutMs: 1000 });
  const pages = new PageQueue(admission);
  const { signal } = new AbortController();
  const request = { heldBytes: 0, isPage: false, client: { signal } } as unknown as ServerRequest;
  let begun = 0;
  const read = () =>
    pages.read(request, async () => {
      begun++;
      return toStatusResponse("ok");
    });
  const reads = Promise.all([read(), read(), read(), read()]);
  for (const count of [2, 3, 4]) {
    await turn();
    expect(begun).toBe(count);
  }
  await reads;
});

it("does not read the page of a client that has left while it waited", async () => {
  await using server = await startHeldPages();
  const connections = await askForPages(server, 4);
  connections[2]?.reset();
  await expect.poll(() => server.server.readLoad().connections).toBe(3);
  server.release();
  await expect.poll(server.begun).toEqual([1, 2, 4]);
  server.release();
  server.release();
});

it("does not read the page of a token that was revoked while it waited", async () => {
  const store = await openStore("memory:");
  const digest = digestToken("chosen");
  await store.addToken({ digest, prefix: "", name: "", issuedAtMs: 0 });
  const authenticator = createAuthenticator(store, { ownToken: testToken });
  await using server = await startHeldPages({ authenticator });
  await askForPages(server, 2);
  using connection = await sendRaw(server.port, toPage(3, "chosen"));
  await expect.poll(() => server.server.readLoad().connections).toBe(3);
  await store.endToken({ digest, revokedAtMs: Date.now() });
  // A revocation takes effect within one second.
  await sleep(1000);
  server.release();
  expect(await connection.results(1)).toEqual(["400 40102"]);
  expect(server.begun()).toEqual([1, 2]);
  server.release();
});

it("refuses the pages that wait when the server stops, and finishes those that are read", async () => {
  await using server = await startHeldPages();
  const connections = await askForPages(server, 4);
  await expect.poll(() => server.server.readLoad().connections).toBe(4);
  const closed = server.server.close(10_000);
  for (const each of connections.slice(2)) expect(await each.results(1)).toEqual(["400 50300"]);
  server.release();
  server.release();
  for (const each of connections.slice(0, 2)) expect(await each.results(1)).toEqual(["200"]);
  await closed;
  expect(server.begun()).toEqual([1, 2]);
});
