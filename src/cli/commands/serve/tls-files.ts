/** Reads the certificate of a server, at the start and on SIGHUP, and warns before it expires. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { isError, toShellWord } from "../../../core/messages.ts";
import type { TlsCertificate } from "../../../server/http/http-server.ts";
import { adviseCommand, CommandError, toReadError } from "../../command-error.ts";
import { readRegularFile } from "../../../store/regular-file.ts";
import type { ServerRun, TlsFiles } from "./serve-options.ts";

/** A server that reloads its certificate cannot ask for a password. */
const encryptedKey = /^-----BEGIN ENCRYPTED |^Proc-Type:.*ENCRYPTED/m;

export async function readTlsFiles({ certFile, keyFile }: TlsFiles): Promise<TlsCertificate> {
  const cert = readTlsFile("--tls-cert", certFile);
  const key = readTlsFile("--tls-key", keyFile);
  const certificate = callOpenssl(
    () => new X509Certificate(cert),
    (reason) => `${certFile} contains no certificate in PEM: ${reason}`,
  );
  if (encryptedKey.test(key)) {
    const command = `openssl pkey -in ${toShellWord(keyFile)} -out FILE`;
    const hints = adviseCommand("Write it without a password", command);
    throw new CommandError("usage", `${keyFile} is encrypted`, { hints });
  }
  const privateKey = callOpenssl(
    () => createPrivateKey(key),
    (reason) => `${keyFile} contains no private key in PEM: ${reason}`,
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CommandError(
      "usage",
      `the key in ${keyFile} does not match the first certificate in ${certFile}: begin with the certificate of the server, and put its issuer after each one`,
    );
  }
  callOpenssl(
    () => createSecureContext({ cert, key }),
    (reason) => `${certFile} and ${keyFile} cannot be used: ${reason}`,
  );
  return { cert, key };
}

function callOpenssl<T>(parse: () => T, toMessage: (reason: string) => string): T {
  try {
    return parse();
  } catch (error) {
    throw new CommandError("usage", toMessage(toOpensslReason(error)), { cause: error });
  }
}

/** The message of OpenSSL also contains an error number and a module name. */
function toOpensslReason(error: unknown): string {
  if (!isError(error)) return String(error);
  return "reason" in error && typeof error.reason === "string" ? error.reason : error.message;
}

function readTlsFile(flag: string, path: string): string {
  try {
    return readRegularFile(path);
  } catch (error) {
    throw toReadError(`${flag}: ${path}`, error);
  }
}

/** Reloads the certificate; on failure the server keeps the old one. */
export async function reload(run: ServerRun): Promise<void> {
  const { options, log } = run;
  if (options.tls === undefined) {
    log.message("info", "SIGHUP ignored: the server has no certificate");
    return;
  }
  try {
    const certificate = await readTlsFiles(options.tls);
    run.server?.setCertificate(certificate);
    run.certificate = certificate;
    log.message("info", "SIGHUP: the certificate was reloaded");
    const warning = findExpiry(run);
    if (warning !== undefined) log.message("warn", warning);
  } catch (error) {
    if (error instanceof CommandError) {
      log.message("error", `SIGHUP: ${error.message}; the old certificate stays in use`);
    } else {
      log.error(error);
    }
  }
}

const dayMs = 24 * 60 * 60 * 1000;
/** Time before its end in which a certificate should be renewed. */
const renewalMs = 14 * dayMs;

export function toExpiryMs({ cert }: TlsCertificate): number {
  return Date.parse(new X509Certificate(cert).validTo);
}

type TlsRun = Pick<ServerRun, "certificate" | "options">;

/** Describes a certificate in use that has expired, or expires soon. */
export function findExpiry({ certificate, options }: TlsRun): string | undefined {
  const { tls } = options;
  if (tls === undefined || certificate === undefined) return undefined;
  const endMs = toExpiryMs(certificate);
  const leftMs = endMs - Date.now();
  if (leftMs > renewalMs) return undefined;
  const date = new Date(endMs).toISOString().slice(0, 10);
  return leftMs < 0
    ? `the certificate in ${tls.certFile} expired on ${date}, and clients reject it: renew it`
    : `the certificate in ${tls.certFile} expires on ${date}: renew it`;
}

/** Repeats the warning every day in the log. */
export function watchExpiry(run: TlsRun & Pick<ServerRun, "log">): void {
  const warn = (): void => {
    const warning = findExpiry(run);
    if (warning !== undefined) run.log.message("warn", warning);
  };
  setInterval(warn, dayMs).unref();
}
