/** Sends the load that the argument describes on plain sockets, as its kind of client does, and prints the responses to it. */
import { connect, type Socket } from "node:net";
import type { ClientKind } from "../clients-part.ts";
import type { Load, LoadResult } from "../load.ts";
import { toAddress, toBody } from "../requests.ts";

const load = JSON.parse(process.argv[2] ?? "") as Load & { readonly client: ClientKind };
const { hostname, port } = new URL(load.url);
const startedAtMs = performance.now();
const endAtMs = startedAtMs + load.seconds * 1000;
const latenciesMs: number[] = [];
let sent = 0;
let rejected = 0;
let failed = 0;

/** Sends one request after the other. Ends with the time, or with a failure. */
function runClient(onEnd: () => void): void {
  let socket: Socket | undefined;
  let received = "";
  let sentAtMs = 0;

  function open(): Socket {
    const opened = connect({ host: hostname, port: Number(port), noDelay: true });
    opened.setEncoding("latin1");
    opened.on("data", (text: string) => {
      received += text;
      const [head = "", body] = received.split("\r\n\r\n");
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
      if (body === undefined || body.length < length) return;
      latenciesMs.push(performance.now() - sentAtMs);
      if (!head.startsWith("HTTP/1.1 2")) rejected++;
      received = "";
      if (load.client === "Connection: close") {
        opened.destroy();
        socket = undefined;
      }
      next();
    });
    opened.on("error", () => {
      failed++;
      onEnd();
    });
    return opened;
  }

  function next(): void {
    sentAtMs = performance.now();
    if (sentAtMs > endAtMs) {
      socket?.destroy();
      onEnd();
      return;
    }
    socket ??= open();
    const n = load.sentBefore + ++sent;
    const body = toBody(n, load.ids);
    const head = `POST /plants HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${load.token}\r\nContent-Type: application/json\r\n${toHeaders(n)}Content-Length: ${body.length}\r\n\r\n`;
    if (load.client === "two writes") {
      socket.write(head);
      socket.write(body);
    } else socket.write(head + body);
  }

  next();
}

/** Headers that only this kind of client sends. */
function toHeaders(n: number): string {
  if (load.client === "Connection: close") return "Connection: close\r\n";
  if (load.client !== "proxy headers") return "";
  return `X-Real-IP: ${toAddress(n)}\r\nX-Forwarded-Proto: https\r\nVia: 1.1 proxy\r\n`;
}

const clients = Array.from({ length: load.connections }, () => new Promise<void>(runClient));
await Promise.all(clients);
const seconds = (performance.now() - startedAtMs) / 1000;
const sorted = latenciesMs.toSorted((left, right) => left - right);
const toPercentile = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
const result: LoadResult = {
  sent,
  responses: latenciesMs.length,
  rejected,
  failed,
  seconds,
  p50Ms: toPercentile(0.5),
  p99Ms: toPercentile(0.99),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
