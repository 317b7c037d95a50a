/** Loads the TLS options that a URL asks for. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import { escapeUnprintable } from "../../core/quote.ts";
import { StoreError } from "../../core/store.ts";
import { toSystemReason } from "../../core/words.ts";
import type { PostgresLocation } from "./postgres-url.ts";

/**
 * Returns TLS options with the meaning that libpq gives to `sslmode`
 * (https://www.postgresql.org/docs/current/libpq-ssl.html); the driver's own meaning differs. False: no TLS.
 *
 * @throws StoreError `unusable` when a file cannot be used
 */
export async function loadTls({
  tls,
  tlsFiles: { root, certificate, key },
}: PostgresLocation): Promise<ConnectionOptions | false> {
  if (tls === "disable") return false;
  // Parsing throws when a file has no certificate or key in it. TLS itself would only fail to connect.
  const ca = await readPem("sslrootcert", root, (pem) => new X509Certificate(pem));
  const cert = await readPem("sslcert", certificate, (pem) => new X509Certificate(pem));
  const options = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert, key: await readPem("sslkey", key, createPrivateKey) }),
  };
  switch (tls) {
    case "require":
      return { ...options, rejectUnauthorized: false };
    case "verify-ca":
      return { ...options, checkServerIdentity: () => undefined };
    case "verify-full":
      return options;
  }
}

async function readPem(
  parameter: string,
  path: string | undefined,
  parse: (pem: Buffer) => unknown,
): Promise<Buffer | undefined> {
  if (path === undefined) return undefined;
  try {
    const pem = await readFile(path);
    parse(pem);
    return pem;
  } catch (cause) {
    throw new StoreError(
      "unusable",
      escapeUnprintable(
        `${path}, which ${parameter} in the store's URL names, cannot be used: name a PEM file (${toSystemReason(cause)})`,
      ),
      { cause },
    );
  }
}
