/** The certificate of a server, out of its files. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { TlsCertificate } from "../../server/http/listener.ts";
import { CommandError } from "../command-error.ts";
import { toSystemReason } from "../system-error.ts";

/** Where a certificate and its key are, in PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Nobody could be asked for the password when the certificate is read anew. */
const encryptedKey = /^-----BEGIN ENCRYPTED |^Proc-Type:.*ENCRYPTED/m;

/**
 * Reads a certificate and its key.
 *
 * @throws CommandError when a file can't be read, or they don't fit each other
 */
export async function readTlsFiles({ certFile, keyFile }: TlsFiles): Promise<TlsCertificate> {
  const cert = await read(certFile);
  const key = await read(keyFile);
  const certificate = attempt(
    () => new X509Certificate(cert),
    (reason) => `${certFile} holds no certificate in PEM: ${reason}`,
  );
  const privateKey = attempt(
    () => createPrivateKey(key),
    (reason) =>
      encryptedKey.test(key)
        ? `${keyFile} is encrypted: "openssl pkey" writes it without a password`
        : `${keyFile} holds no private key in PEM: ${reason}`,
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CommandError("usage", `the key in ${keyFile} is not that of ${certFile}`);
  }
  attempt(
    () => createSecureContext({ cert, key }),
    (reason) => `${certFile} and ${keyFile} can't be used: ${reason}`,
  );
  return { cert, key };
}

function attempt<T>(parse: () => T, toMessage: (reason: string) => string): T {
  try {
    return parse();
  } catch (error) {
    throw new CommandError("usage", toMessage(toOpensslReason(error)), { cause: error });
  }
}

/** OpenSSL's own message has the number of the error and the name of its part as well. */
function toOpensslReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "reason" in error && typeof error.reason === "string" ? error.reason : error.message;
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
