/** A simple implementation of the contract, without plantstore: node:http, JSON.parse and a map. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts the server on a free port. It accepts one token. */
export async function startNaiveServer(token: string) {
  const plants = new Map<number, string>();

  function create(text: string): [status: number, body: object] {
    let plant: { id?: unknown; name?: unknown; tag?: unknown } | null;
    try {
      plant = JSON.parse(text) as typeof plant;
    } catch (error) {
      return [400, { error: 2, message: String(error) }];
    }
    const { id, name, tag } = plant ?? {};
    const isValid =
      Number.isInteger(id) &&
      Math.abs(id as number) < 2 ** 63 &&
      typeof name === "string" &&
      (tag === undefined || typeof tag === "string");
    if (!isValid) return [400, { error: 2, message: "invalid plant" }];
    const stored = JSON.stringify({ name, tag });
    const known = plants.get(id as number);
    if (known !== undefined && known !== stored) return [409, { error: 3, message: "id taken" }];
    plants.set(id as number, stored);
    return [200, { name, tag }];
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const send = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (request.url !== "/plants" || request.method !== "POST") {
      send(404, { error: 4, message: "not found" });
    } else if (request.headers.authorization !== `Bearer ${token}`) {
      send(401, { error: 1, message: "unauthorized" });
    } else send(...create(Buffer.concat(chunks).toString()));
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => void response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
