/** Failures of TLS: what the error of a request says about the certificate of a real server. */
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

const many = Array.from({ length: 99 }, (_, index) => `s${index}.example.org`);
const isForOthers = "ERR_TLS_CERT_ALTNAME_INVALID";
const advice = "not for localhost: use a name of the certificate in the URL";

it.each<[what: string, certificate: Certificate, detail: RegExp, code: string]>([
  [
    "for other hosts",
    createCertificate(["plants.example.org", "*.example.net"]),
    new RegExp(` is for DNS:plants\\.example\\.org, DNS:\\*\\.example\\.net, ${advice}$`),
    isForOthers,
  ],
  [
    "for many other hosts",
    createCertificate(many),
    new RegExp(` is for DNS:s0\\.example\\.org, .{100,200}…, ${advice}$`),
    isForOthers,
  ],
  ["without a name", createCertificate([]), new RegExp(` is for no name, ${advice}$`), isForOthers],
  [
    "that has expired",
    createCertificate("localhost", Date.UTC(2026, 0, 31, 12)),
    /, or that of its authority, has expired: renew it on the server$/,
    "CERT_HAS_EXPIRED",
  ],
])(
  "a certificate %s is described, and nothing is sent",
  async (_what, certificate, words, code) => {
    const { url, received } = await openServer(certificate);
    for (const error of await failTwice(url, certificate.cert)) {
      const detail = expect.stringMatching(words) as string;
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
        "its certificate is not signed by one of the given authorities (UNABLE_TO_VERIFY_LEAF_SIGNATURE), and the server sends no intermediate certificate: let it send the whole chain (fullchain.pem), or add its authority with --cacert FILE",
    });
  }
  expect(received()).toBe("");
});
