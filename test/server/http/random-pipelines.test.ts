/**
 * Random pipelines on many connections: each response belongs to its request, and exactly the plants that were sent are
 * stored. A longer run: TEST_PIPELINES=200000 npm test -- random-pipelines
 */
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { listAll } from "../../helpers/all-plants.ts";
import { startServer, type TestServer } from "../../helpers/plant-server.ts";
import { createRandom } from "../../helpers/random.ts";
import type { Connection } from "../../conformance/connection.ts";
import { openRawConnection } from "../../helpers/raw-http.ts";
import { toRawHead } from "../../helpers/raw-request.ts";

const pipelines = Number(process.env["TEST_PIPELINES"] ?? 20_000);
const connections = 50;

interface Sent {
  readonly requestId: string;
  readonly body: string;
}

it(
  `responds to each request of ${pipelines} random pipelines, and stores exactly their plants`,
  { timeout: 120_000 + pipelines * 60 },
  async () => {
    await using server = await startServer();
    const names = new Map<bigint, string>();
    await Promise.all(
      Array.from({ length: connections }, (_, index) =>
        runClient(server, createRandom(index), pipelines / connections, names),
      ),
    );
    const plants = await listAll(server.store);
    expect(plants).toHaveLength(names.size);
    expect(plants.filter(({ id, name }) => names.get(id) !== name)).toEqual([]);
    expect(server.errors).toEqual([]);
    // A response arrives before the server knows that it was sent.
    await expect
      .poll(() => server.server.readLoad())
      .toMatchObject({ changes: 0, waitingBytes: 0 });
  },
);

/** Sends pipelines one after the other, on a new connection from time to time. */
async function runClient(
  server: TestServer,
  random: () => number,
  count: number,
  names: Map<bigint, string>,
): Promise<void> {
  for (let left = count; left > 0;) {
    const connection = await openRawConnection(server.port);
    for (let ofConnection = 1 + random() * 20; ofConnection > 0 && left > 0; ofConnection--) {
      left--;
      // More than may be in flight, from time to time.
      const length = Math.ceil(random() ** 3 * (random() < 0.05 ? 100 : 32));
      const requests = Array.from({ length }, () => toRequest(random, names));
      const bytes = requests.map((request) => request.bytes).join("");
      const before = connection.received().length;
      await writeInPieces(connection.socket, bytes, random);
      await waitForBodies(connection, before, requests);
    }
    connection.socket.destroy();
  }
}

function toRequest(random: () => number, names: Map<bigint, string>): Sent & { bytes: string } {
  const id = BigInt(names.size + 1);
  const size =
    random() < 0.9 ? random() * 100 : random() < 0.98 ? random() * 30_000 : random() * 1e6;
  // A body that contains requests: none of its bytes may be read as one.
  const filler = `${id} POST /plants HTTP/1.1 Host: a Content-Length: 2 {} `;
  const name = filler.repeat(size / filler.length + 1).slice(0, size + 10);
  names.set(id, name);
  const requestId = `r${id}`;
  const json = JSON.stringify({ id: Number(id), name });
  const other = random() < 0.2 ? "X-Other: 1\r\n" : "";
  const head = toRawHead({ headers: `${other}X-Request-Id: ${requestId}\r\n` });
  const bytes =
    random() < 0.1
      ? `${head}Transfer-Encoding: chunked\r\n\r\n${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`
      : `${head}Content-Length: ${json.length}\r\n\r\n${json}`;
  return { requestId, body: JSON.stringify({ name }), bytes };
}

async function writeInPieces(
  socket: { write(text: string): boolean },
  bytes: string,
  random: () => number,
): Promise<void> {
  if (random() < 0.5) {
    socket.write(bytes);
    return;
  }
  for (let start = 0; start < bytes.length;) {
    const end = start + 1 + random() ** 2 * Math.max(2000, bytes.length / 5);
    socket.write(bytes.slice(start, end));
    start += bytes.slice(start, end).length;
    await turn();
  }
}

/** Waits for the responses, and compares them with the requests. */
async function waitForBodies(
  connection: Connection,
  before: number,
  requests: readonly Sent[],
): Promise<void> {
  let at = before;
  for (const { requestId, body } of requests) {
    const isHere = (): boolean => {
      const headEnd = connection.received().indexOf("\r\n\r\n", at);
      return headEnd >= 0 && connection.received().length >= headEnd + 4 + body.length;
    };
    while (!isHere()) {
      if (!connection.isOpen()) throw new Error(`no response to ${requestId}`);
      await connection.changed();
    }
    const headEnd = connection.received().indexOf("\r\n\r\n", at);
    const head = connection.received().slice(at, headEnd);
    at = headEnd + 4 + body.length;
    const response = connection.received().slice(headEnd + 4, at);
    if (!head.startsWith("HTTP/1.1 200") || !head.includes(`X-Request-Id: ${requestId}\r\n`)) {
      throw new Error(`wrong response to ${requestId}: ${head}`);
    }
    if (response !== body) {
      throw new Error(`wrong body for ${requestId}: ${response.slice(0, 100)}`);
    }
  }
  expect(connection.received()).toHaveLength(at);
}
