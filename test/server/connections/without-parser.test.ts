/** On a Node whose parser is not where it is looked for, everything is left to node:http, and answered as ever. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { startServer, testToken } from "../../helpers/plant-server.ts";
import { openRawConnection } from "../../helpers/raw-http.ts";

vi.mock("../../../src/server/connections/request-parser.ts", () => ({
  wrapAnnouncing: () => undefined,
  forgetRequest: () => undefined,
  stopReading: () => undefined,
  stoppedCode: "HPE_PAUSED",
}));

function create(id: number, body = `{"id":${id},"name":"fern"}`): string {
  return `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${testToken}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

it("creates are answered in their order, whole, in pieces or pipelined", async () => {
  await using server = await startServer();
  const connection = await openRawConnection(server.port);
  connection.socket.write(create(1));
  await connection.answers(1);
  connection.socket.write(create(2).slice(0, -5));
  await sleep(20);
  connection.socket.write(create(2).slice(-5) + create(3) + create(4, "{") + create(1));
  const answers = await connection.answers(5);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400, 200]);
  expect(answers.map(({ headers }) => headers["x-plantstore-result"])).toEqual([
    "created",
    "created",
    "created",
    undefined,
    "unchanged",
  ]);
  connection.socket.destroy();
});

it("an idle connection is ended, and a server that stops ends all", async () => {
  await using server = await startServer({ idleTimeoutMs: 300 });
  const connection = await openRawConnection(server.port);
  connection.socket.write(create(1));
  await connection.answers(1);
  await connection.ended();
  const other = await openRawConnection(server.port);
  other.socket.write(create(1));
  await other.answers(1);
  await server.close();
  await other.ended();
  expect(server.errors).toEqual([]);
});
