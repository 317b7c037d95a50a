/** What the mode of a URL means for TLS. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import { escapeUnprintable } from "../../core/quote.ts";
import { StoreError } from "../../core/store.ts";
import type { PostgresLocation } from "./postgres-url.ts";

/**
 * TLS as libpq's `sslmode` defines it (https://www.postgresql.org/docs/current/libpq-ssl.html), whatever the driver makes
 * of that name. False: none.
 *
 * @throws StoreError `unusable` when the certificates to trust can't be read
 */
export async function loadTls({
  tls,
  rootCertificatePath,
}: PostgresLocation): Promise<ConnectionOptions | false> {
  switch (tls) {
    case "disable":
      return false;
    case "require":
      return { rejectUnauthorized: false };
    case "verify-ca":
      return { ...(await loadRoots(rootCertificatePath)), checkServerIdentity: () => undefined };
    case "verify-full":
      return loadRoots(rootCertificatePath);
  }
}

async function loadRoots(path: string | undefined): Promise<ConnectionOptions> {
  if (path === undefined) return {};
  try {
    const ca = await readFile(path);
    // Throws when there is no certificate in it; TLS itself would say nothing, and trust nobody.
    void new X509Certificate(ca);
    return { ca };
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new StoreError(
      "unusable",
      escapeUnprintable(
        `${path}, which sslrootcert in the store's URL names, can't be used: name a file of certificates (${detail})`,
      ),
      { cause },
    );
  }
}
