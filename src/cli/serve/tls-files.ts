/** The certificate of a server, out of its files. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { TlsCertificate } from "../../server/connections/http-listener.ts";
import { CommandError } from "../command-error.ts";
import { toSystemReason } from "../system-error.ts";

/** Where a certificate and its key are, in PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * Reads a certificate and its key.
 *
 * @throws CommandError when a file can't be read, or they don't fit each other
 */
export async function readTlsFiles({ certFile, keyFile }: TlsFiles): Promise<TlsCertificate> {
  const certificate = { cert: await read(certFile), key: await read(keyFile) };
  try {
    createSecureContext(certificate);
    // A secure context does without a key when that is empty, as while a file is being written.
    const { cert, key } = certificate;
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
      throw new Error("the key is another one's");
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      "usage",
      `${certFile} and ${keyFile} are no certificate and its key in PEM: ${reason}`,
      { cause: error },
    );
  }
  return certificate;
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new CommandError("usage", `${path} can't be read: ${toSystemReason(error)}`, {
      cause: error,
    });
  }
}
