/**
 * Random pipelines of creates, deletes and pages: on each connection, every response is the one of a model that handles the
 * requests one after the other. A longer run: TEST_OPERATIONS=20000 npm run test:file -- random-operations
 */
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createAuthenticator, digestToken } from "../../../src/auth/authenticator.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { startServer, testToken } from "../../helpers/plant-server.ts";
import { createRandom } from "../../helpers/random.ts";
import { openRawConnection } from "../../helpers/raw-http.ts";
import { toRawGet, toRawHead, toRawRequest } from "../../helpers/raw-request.ts";

const pipelines = Number(process.env["TEST_OPERATIONS"] ?? 400);
/** Connections at a time. Each has ids of its own. */
const clients = 20;
const idsOfClient = 1000;

it(`responds to ${pipelines} random pipelines as if it handled one request after the other`, async () => {
  const store = await openStore("memory:");
  const issued = { digest: digestToken("issued"), prefix: "", name: "", issuedAtMs: 0 };
  await store.addToken(issued);
  const authenticator = createAuthenticator(store, { ownToken: testToken });
  await using server = await startServer({ operations: "all", store, authenticator });
  await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const random = createRandom(index);
      const plants = new Map<number, string>();
      for (let count = 0; count < pipelines / clients; count++) {
        // The first one has a token: without, 32 KiB behind it would end the connection.
        const requests = Array.from({ length: Math.ceil(random() ** 2 * 60) }, (_each, at) =>
          toRandomRequest(random, index * idsOfClient, plants, at > 0),
        );
        using connection = await openRawConnection(server.port);
        const bytes = requests.map((request) => request.bytes).join("");
        for (let start = 0; start < bytes.length;) {
          const end = start + Math.ceil(random() ** 4 * bytes.length);
          connection.socket.write(bytes.slice(start, end));
          start = end;
          await turn();
        }
        const responses = await connection.responses(requests.length);
        const results = responses.map(({ status, body }, at) =>
          `${status} ${body}`.slice(0, requests[at]?.result.length),
        );
        expect(results).toEqual(requests.map(({ result }) => result));
      }
      for (const [id, name] of plants) {
        expect(await store.get(BigInt(id))).toMatchObject({ name });
      }
    }),
  );
  expect(server.errors).toEqual([]);
  const none = { changes: 0, waitingBytes: 0 };
  await expect.poll(() => server.server.readLoad()).toMatchObject(none);
});

/** Returns a request on the plants of a client, and the beginning of its response; changes the plants as the request does. */
function toRandomRequest(
  random: () => number,
  firstId: number,
  plants: Map<number, string>,
  mayBeStrange: boolean,
): { bytes: string; result: string } {
  const id = firstId + Math.floor(random() * 5);
  const kind = random() * (mayBeStrange ? 1 : 0.9);
  const other = random() < 0.3 ? "X-Other: 1\r\n" : "";
  const options = { token: random() < 0.2 ? "issued" : testToken, headers: other };
  if (kind < 0.45) {
    const name = `${Math.floor(random() * 2)}`.repeat(random() < 0.02 ? 40_000 : 5);
    const bytes = toRawRequest(JSON.stringify({ id, name }), options);
    const stored = plants.get(id) ?? name;
    plants.set(id, stored);
    return { bytes, result: stored === name ? `200 {"name":"${name}"` : '400 {"error":40900' };
  }
  if (kind < 0.65) {
    const head = toRawHead({ ...options, method: "DELETE", target: `/plants/${id}` });
    const isThere = plants.delete(id);
    return { bytes: `${head}\r\n`, result: isThere ? "204 " : '400 {"error":40401' };
  }
  if (kind < 0.9) {
    const target = `/plants?after=${firstId - 1}&limit=${idsOfClient}`;
    const head = toRawHead({ ...options, method: "GET", target });
    const list = [...plants].toSorted(([first], [second]) => first - second);
    const json = list.map(([each, name]) => `{"id":${each},"name":"${name}"}`);
    // Those of the next clients may follow.
    return { bytes: `${head}\r\n`, result: `200 [${json.join(",")}` };
  }
  return kind < 0.95
    ? { bytes: toRawGet("/healthz"), result: '200 {"status":"ok"' }
    : { bytes: toRawGet("/plants/1/2"), result: '404 {"error":40400' };
}
