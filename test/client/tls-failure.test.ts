/** Failures of TLS: what the error of a request says about the certificate of a real server. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { openPool } from "../../src/client/http-pool.ts";
import { post } from "../../src/client/http-request.ts";
import { type Certificate, createCertificate } from "../helpers/certificate.ts";

/** Opens a TLS server. @returns its URL, and the function that returns the bytes that it received */
async function openTlsServer(certificate: Certificate, host = "localhost") {
  const chunks: Buffer[] = [];
  const server = createServer(certificate, (socket) => {
    socket.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => undefined);
  });
  server.listen(0, host);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://${host}:${port}/plants`,
    received: () => Buffer.concat(chunks).toString(),
  };
}

const request = { headers: { authorization: "Bearer secret" }, body: "{}", timeoutMs: 10_000 };

/** The errors of a single request, and of one in a pool. */
async function failTwice(url: string, ca: string): Promise<readonly unknown[]> {
  const pool = openPool(url, 1, request.timeoutMs, ca);
  onTestFinished(() => pool.close());
  const requests = [post, pool.post].map((send) => send({ ...request, url, ca }));
  const results = await Promise.allSettled(requests);
  return results.map((result) => (result as PromiseRejectedResult).reason as unknown);
}

const many = Array.from({ length: 12 }, (_, index) => `s${index}.example.org`);

it.each<[names: readonly string[], words: string]>([
  [["plants.example.org"], "plants.example.org, not for localhost: use this name in the URL"],
  [
    ["plants.example.org", "*.example.net"],
    "plants.example.org and *.example.net, not for localhost: use one of these names in the URL",
  ],
  [
    many,
    `${many.slice(0, 10).join(", ")} and 2 more, not for localhost: use one of these names in the URL`,
  ],
])("a certificate for %j is for another host", async (names, words) => {
  const certificate = createCertificate(names);
  const { url, received } = await openTlsServer(certificate);
  for (const error of await failTwice(url, certificate.cert)) {
    expect(error).toMatchObject({
      reason: "insecure",
      detail: `its certificate is for ${words}`,
      cause: { code: "ERR_TLS_CERT_ALTNAME_INVALID" },
    });
  }
  expect(received()).toBe("");
});

it("a certificate without a name is for no host", async () => {
  const certificate = createCertificate([]);
  const { url } = await openTlsServer(certificate);
  for (const error of await failTwice(url, certificate.cert)) {
    expect(error).toMatchObject({
      detail: "its certificate names no host: replace it on the server",
    });
  }
});

it("an expired certificate is described with its date, and nothing is sent to its server", async () => {
  const certificate = createCertificate("localhost", Date.UTC(2026, 0, 31, 12));
  const { url, received } = await openTlsServer(certificate);
  for (const error of await failTwice(url, certificate.cert)) {
    expect(error).toMatchObject({
      reason: "insecure",
      detail: "its certificate expired on 2026-01-31: renew it on the server",
      cause: { code: "CERT_HAS_EXPIRED" },
    });
  }
  expect(received()).toBe("");
});

it("an expired certificate without a readable date is still named as the reason", async () => {
  const certificate = createCertificate("localhost", Date.UTC(2026, 0, 31));
  // The server closes after the first connection, so that the date cannot be read.
  const server = createServer(certificate, () => undefined);
  server.listen(0, "localhost").on("connection", () => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `https://localhost:${port}/plants`;
  await expect(post({ ...request, url, ca: certificate.cert })).rejects.toMatchObject({
    reason: "insecure",
    detail: "its certificate, or that of its authority, has expired: renew it on the server",
  });
});
