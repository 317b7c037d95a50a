/** The yardstick: a node:http server that reads the body and sends a constant response. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const body = JSON.stringify({ name: "fern" });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    Buffer.concat(chunks);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.on("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
});
