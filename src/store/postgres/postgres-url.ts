/** Where a PostgreSQL database is and how to speak to it, as a `postgres://` URL says it. */
import { isIPv4 } from "node:net";
import { quoteInput } from "../../core/quote.ts";
import { StoreError } from "../../core/store.ts";

/** How the connection is protected; of libpq's modes those that always do the same. */
type TlsMode = (typeof tlsModes)[number];

/** What a URL says. What is undefined is left to the driver: PGUSER, PGPASSWORD, a .pgpass file. */
export interface PostgresLocation {
  /** A name, an address, or the directory of a Unix socket, which begins with a slash. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Settings of the session as libpq writes them, for example `-c search_path=garden`. */
  readonly options: string | undefined;
  readonly tls: TlsMode;
  /** A file with the certificates to trust instead of the well-known ones. */
  readonly rootCertificatePath: string | undefined;
}

const example = "postgres://USER:PASSWORD@HOST:5432/DATABASE";
const defaultPort = 5432;

const tlsModes = ["disable", "require", "verify-ca", "verify-full"] as const;
const tlsHint =
  "verify-full (the default), verify-ca (any name, but only of the authorities in sslrootcert), require (encrypted, but to whoever answers) or disable";
const parameters = ["host", "options", "sslmode", "sslrootcert"];

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS`, the scheme also as `postgresql:`. The parameters:
 *
 * - `sslmode`: a {@link TlsMode}. Without it `verify-full`, but `disable` for this machine itself
 * - `sslrootcert`: a file with the certificates to trust
 * - `host`: instead of the URL's own, for the directory of a Unix socket
 * - `options`: settings of the session. The tables are in the first schema of its `search_path`
 *
 * @throws StoreError `unusable`; it quotes names of parameters and modes, and nothing that could be part of a password
 */
export function parsePostgresUrl(text: string): PostgresLocation {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // A password with one of these characters in it ends before the part that the @ was to separate.
  if (url?.hash !== "" || `${url.pathname}${url.search}`.includes("@")) {
    throw refusal(
      `can't be read: write ${example}, with %23 for # in a user or password, %25 for %, %2F for /, %3F for ? and %40 for @`,
    );
  }
  const database = decode(url.pathname.slice(1));
  if (database === "") throw refusal(`names no database: write ${example}`);
  const unknown = [...url.searchParams.keys()].find((name) => !parameters.includes(name));
  if (unknown !== undefined) {
    throw refusal(
      `has the parameter ${quoteInput(unknown)}, which plantstore doesn't know: leave it out (it knows ${parameters.join(", ")})`,
    );
  }
  const hostOfUrl = decode(url.hostname).replace(/^\[(.+)\]$/, "$1");
  const host = url.searchParams.get("host") ?? (hostOfUrl || "localhost");
  return {
    host,
    port: Number(url.port || defaultPort),
    database,
    user: decode(url.username) || undefined,
    password: decode(url.password) || undefined,
    options: url.searchParams.get("options") ?? undefined,
    ...readTls(url.searchParams, host),
  };
}

/** A database for messages, without user and password. */
export function toPlace({ host, port, database }: PostgresLocation): string {
  return `postgres://${host.includes(":") ? `[${host}]` : host}:${port}/${database}`;
}

function readTls(
  searchParameters: URLSearchParams,
  host: string,
): Pick<PostgresLocation, "tls" | "rootCertificatePath"> {
  const mode = searchParameters.get("sslmode") ?? (isThisMachine(host) ? "disable" : "verify-full");
  const tls = tlsModes.find((known) => known === mode);
  if (mode === "prefer" || mode === "allow") {
    throw refusal(`has sslmode=${mode}, which may silently do without encryption: use ${tlsHint}`);
  }
  if (tls === undefined) {
    throw refusal(`has an unknown sslmode "${quoteInput(mode)}": use ${tlsHint}`);
  }
  const rootCertificatePath = searchParameters.get("sslrootcert") ?? undefined;
  if (rootCertificatePath !== undefined && !tls.startsWith("verify-")) {
    throw refusal(
      `has sslrootcert, which sslmode=${tls} makes no use of: use sslmode=verify-full, or verify-ca when the certificate has another name`,
    );
  }
  if (rootCertificatePath === undefined && tls === "verify-ca") {
    throw refusal(
      "has sslmode=verify-ca, which anybody with a certificate would pass: add sslrootcert=FILE with your authority's, or use sslmode=verify-full",
    );
  }
  return { tls, rootCertificatePath };
}

function isThisMachine(host: string): boolean {
  if (host.startsWith("/") || host === "localhost" || host === "::1") return true;
  return isIPv4(host) && host.startsWith("127.");
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refusal("has a % that encodes nothing: write %25 for a percent sign");
  }
}

function refusal(complaint: string): StoreError {
  return new StoreError("unusable", `the URL of the store ${complaint}`);
}
