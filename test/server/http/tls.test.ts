/** HTTPS: the same server after a TLS handshake, with a certificate that may change while it runs. */
import { once } from "node:events";
import { request } from "node:https";
import { connect, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createCertificate } from "../../helpers/certificate.ts";
import { startHeldServer } from "../../helpers/held-store.ts";
import { startServer, testToken } from "../../helpers/plant-server.ts";
import { toRawGet } from "../../helpers/raw-request.ts";
import { startRecordedServer } from "../../helpers/recorded-server.ts";

const certificate = createCertificate("localhost");

/** Creates a plant on a new connection. */
async function create(port: number, ca: string): Promise<string> {
  const headers = { Authorization: `Bearer ${testToken}`, "Content-Type": "application/json" };
  const url = `https://localhost:${port}/plants`;
  const sent = request(url, { ca, method: "POST", headers, agent: false });
  sent.end('{"id":1,"name":"fern"}');
  const [response] = (await once(sent, "response")) as [NodeJS.ReadableStream];
  return text(response);
}

it("creates a plant over TLS", async () => {
  await using server = await startServer({ certificate });
  expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(await create(server.port, certificate.cert)).toBe('{"name":"fern"}');
});

it.each([
  ["accepts", "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256"],
  ["accepts", "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-CHACHA20-POLY1305"],
  ["rejects", "ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA256"],
  ["rejects", "AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256"],
])("%s TLS 1.2 with %s, also after another certificate is set", async (verdict, ciphers) => {
  await using server = await startServer({ certificate });
  const handshake = async (): Promise<string> => {
    const options = { port: server.port, host: "127.0.0.1", rejectUnauthorized: false };
    const socket = connectTls({ ...options, ciphers, maxVersion: "TLSv1.2" });
    return once(socket, "secureConnect")
      .then(
        () => "accepts",
        () => "rejects",
      )
      .finally(() => socket.destroy());
  };
  expect(await handshake()).toBe(verdict);
  server.server.setCertificate(createCertificate("localhost"));
  expect(await handshake()).toBe(verdict);
});

it("uses a new certificate for later connections, and ignores an invalid one", async () => {
  await using server = await startServer({ certificate });
  const next = createCertificate("localhost");
  server.server.setCertificate(next);
  expect(await create(server.port, next.cert)).toBe('{"name":"fern"}');
  await expect(create(server.port, certificate.cert)).rejects.toThrow(/self-signed|signature/);
  expect(() => server.server.setCertificate({ ...next, cert: "none" })).toThrow(/PEM/);
  expect(await create(server.port, next.cert)).toBe('{"name":"fern"}');
});

it.each<[what: string, bytes: string]>([
  ["nothing", ""],
  ["half a handshake", "\u0016\u0003\u0001\u0002\u0000\u0001"],
  ["noise", "noise\r\n\r\n"],
])("closes only the connection of a client that sends %s", async (_what, bytes) => {
  await using server = await startServer({ certificate });
  const socket = connect(server.port, "127.0.0.1").on("error", () => undefined);
  await once(socket, "connect");
  socket.end(Buffer.from(bytes, "latin1")).resume();
  await once(socket, "close");
  expect(await create(server.port, certificate.cert)).toBe('{"name":"fern"}');
  expect(server.errors).toEqual([]);
});

describe("a client that uses http: instead of https:", () => {
  const get = toRawGet("/healthz");
  const post = "POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n";
  const body = {
    error: 40000,
    message: expect.stringContaining("use https:// instead of http://"),
  };

  /** Sends bytes without TLS, and reads the response up to its end. */
  async function exchangePlain(port: number, bytes: string): Promise<string> {
    const socket = connect(port, "127.0.0.1");
    socket.write(bytes);
    const response = await text(socket);
    socket.destroy();
    return response;
  }

  it.each([
    ["a request", get],
    ["its first letter", "G"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a large body", `${post}${"x".repeat(3_000_000)}`],
  ])("gets an Error that names https for %s, which is reported", async (_what, bytes) => {
    await using server = await startRecordedServer({ certificate });
    const response = await exchangePlain(server.port, bytes);
    expect(response).toMatch(/^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n/);
    expect(JSON.parse(response.slice(response.indexOf("\r\n\r\n")))).toEqual(body);
    expect(server.records).toMatchObject([{ method: undefined, status: 400, error: 40000 }]);
    expect(server.errors).toEqual([]);
  });

  it("does not delay clients of TLS, as one of 300 at a time", async () => {
    await using server = await startServer({ certificate, maxConnections: 400 });
    const plain = Array.from({ length: 300 }, () => exchangePlain(server.port, get));
    const encrypted = Array.from({ length: 20 }, () => create(server.port, certificate.cert));
    expect(new Set(await Promise.all(encrypted))).toEqual(new Set(['{"name":"fern"}']));
    const responses = await Promise.allSettled(plain);
    const answered = responses.filter(
      (result) => result.status === "fulfilled" && result.value.includes('"error":40000'),
    );
    expect(answered.length).toBeGreaterThan(200);
    await expect.poll(() => server.server.readLoad().connections).toBe(0);
    expect(server.errors).toEqual([]);
  });

  it("takes no place of a client of TLS", async () => {
    await using server = await startServer({ certificate, maxConnections: 1 });
    const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.write(get);
    await once(socket, "data");
    expect(server.server.readLoad().connections).toBe(0);
    expect(await create(server.port, certificate.cert)).toBe('{"name":"fern"}');
    socket.destroy();
  });

  it("may reset its connection before or after the first byte", async () => {
    await using server = await startServer({ certificate });
    for (const bytes of ["", "G", "\u0016"]) {
      const sockets = Array.from({ length: 50 }, () => connect(server.port, "127.0.0.1"));
      await Promise.all(sockets.map((socket) => once(socket, "connect")));
      for (const socket of sockets) socket.write(bytes);
      for (const socket of sockets) socket.resetAndDestroy();
    }
    expect(await create(server.port, certificate.cert)).toBe('{"name":"fern"}');
    expect(server.errors).toEqual([]);
  });

  it("does not delay the stop while it sends a body after the Error", async () => {
    const server = await startServer({ certificate });
    const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => undefined).write(post);
    await once(socket, "data");
    await expect(server.server.close(3_600_000)).resolves.toBeUndefined();
    socket.destroy();
  });
});

describe("close", () => {
  it("does not wait for a client that never starts the handshake", async () => {
    const server = await startServer({ certificate });
    const silent = connect(server.port, "127.0.0.1").on("error", () => undefined);
    const idle = connectTls({ port: server.port, host: "localhost", ca: certificate.cert });
    await Promise.all([once(silent, "connect"), once(idle, "secureConnect")]);
    await create(server.port, certificate.cert);
    await expect(server.server.close(3_600_000)).resolves.toBeUndefined();
    for (const socket of [silent, idle]) socket.destroy();
  });
});

describe("a client that never starts the handshake", () => {
  /** Connects without sending anything. */
  const openSilent = async (port: number) => {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    await once(socket.resume(), "connect");
    return socket;
  };

  it("makes room for another client, as the connection that is idle longest", async () => {
    await using server = await startServer({ certificate, maxConnections: 2 });
    const first = await openSilent(server.port);
    const firstClosed = once(first, "close");
    const second = await openSilent(server.port);
    expect(await create(server.port, certificate.cert)).toBe('{"name":"fern"}');
    await firstClosed;
    expect(second.closed).toBe(false);
    second.destroy();
  });

  it("makes room for another client that is rejected while all connections are busy", async () => {
    await using server = await startHeldServer({ certificate, maxConnections: 1 });
    const accepted = create(server.port, certificate.cert);
    await server.held.isWaiting(1);
    const silent = [];
    for (let count = 0; count < 100; count++) silent.push(await openSilent(server.port));
    const [first] = silent;
    const firstClosed = first && once(first, "close");
    for (let count = 0; count < 2; count++) {
      expect(await create(server.port, certificate.cert)).toContain('"error":50301');
    }
    await firstClosed;
    expect(silent.at(-1)?.closed).toBe(false);
    server.held.release("created");
    expect(await accepted).toBe('{"name":"fern"}');
    for (const socket of silent) socket.destroy();
  });

  it.each([
    ["10 seconds", 60_000, 10_000],
    ["the time for the headers, if that is shorter", 15_000, 5000],
  ])("has at most %s", async (_limit, requestTimeoutMs, limitMs) => {
    // node:tls starts the limit on the server's socket; the client sets none.
    const setTimeout = vi.spyOn(Socket.prototype, "setTimeout");
    onTestFinished(() => setTimeout.mockRestore());
    await using server = await startServer({ certificate, requestTimeoutMs });
    const silent = await openSilent(server.port);
    await expect.poll(() => setTimeout.mock.calls.map(([ms]) => ms)).toContain(limitMs);
    silent.destroy();
  });

  it("does not lose its place in the count of connections", async () => {
    await using server = await startServer({ certificate });
    const silent = await openSilent(server.port);
    await expect.poll(() => server.server.readLoad().connections).toBe(1);
    silent.destroy();
    await expect.poll(() => server.server.readLoad().connections).toBe(0);
  });
});
