/** Failures of TLS: what the error of a request says about the certificate of a real server. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { openPool } from "../../src/client/http-pool.ts";
import { post } from "../../src/client/http-request.ts";
import { type Certificate, createCertificate } from "../helpers/certificate.ts";
import { openTlsServer } from "./scripted-server.ts";

/** Opens a server. @returns its URL, and a function that returns the bytes that it received */
async function openServer(certificate: Certificate) {
  const chunks: Buffer[] = [];
  const url = await openTlsServer(certificate, "localhost", (socket) => {
    socket.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => undefined);
  });
  return { url: `${url}/plants`, received: () => Buffer.concat(chunks).toString() };
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
const isForOthers = "ERR_TLS_CERT_ALTNAME_INVALID";

it.each<[what: string, certificate: Certificate, detail: string, code: string]>([
  [
    "for another host",
    createCertificate("plants.example.org"),
    "is for plants.example.org, not for localhost: use this name in the URL",
    isForOthers,
  ],
  [
    "for two other hosts",
    createCertificate(["plants.example.org", "*.example.net"]),
    "is for plants.example.org and *.example.net, not for localhost: use one of these names in the URL",
    isForOthers,
  ],
  [
    "for many other hosts",
    createCertificate(many),
    `is for ${many.slice(0, 10).join(", ")} and 2 more, not for localhost: use one of these names in the URL`,
    isForOthers,
  ],
  ["without a name", createCertificate([]), "names no host: replace it on the server", isForOthers],
  [
    "that has expired",
    createCertificate("localhost", Date.UTC(2026, 0, 31, 12)),
    "expired on 2026-01-31: renew it on the server",
    "CERT_HAS_EXPIRED",
  ],
])(
  "a certificate %s is described, and nothing is sent",
  async (_what, certificate, words, code) => {
    const { url, received } = await openServer(certificate);
    for (const error of await failTwice(url, certificate.cert)) {
      const detail = `its certificate ${words}`;
      expect(error).toMatchObject({ reason: "insecure", detail, cause: { code } });
    }
    expect(received()).toBe("");
  },
);

it("a certificate that the server sends without that of its issuer is described", async () => {
  const issuer = { name: "Intermediate", key: createCertificate("Intermediate").key };
  const { url, received } = await openServer(createCertificate("localhost", undefined, issuer));
  for (const error of await failTwice(url, createCertificate("Root").cert)) {
    expect(error).toMatchObject({
      reason: "insecure",
      detail:
        "its certificate is not signed by one of the given authorities (UNABLE_TO_VERIFY_LEAF_SIGNATURE), and the server sends no intermediate certificate: let it send the whole chain (fullchain.pem), or add its authority with --cacert FILE (ca in a program)",
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
