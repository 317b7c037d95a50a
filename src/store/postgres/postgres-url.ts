/** Parses the `postgres://` URL of a store. */
import { isLoopback } from "../../core/base-url.ts";
import { quoteInput } from "../../core/messages.ts";
import { StoreError } from "../../core/store.ts";

export interface Host {
  /** A name, an address, or the directory of a Unix socket, which begins with a slash. */
  readonly host: string;
  readonly port: number;
}

/** Protection of the connection: the modes of libpq that do not depend on the server. */
type TlsMode = (typeof tlsModes)[number];

/** Sessions that a host must offer. */
type Session = (typeof sessions)[number];

/** The parts of a URL. An undefined part is left to the driver: PGUSER, PGPASSWORD, a password file. */
export interface PostgresLocation {
  /** In order of preference; at least one. */
  readonly hosts: readonly Host[];
  readonly database: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Settings of the session in the syntax of libpq, for example `-c search_path=garden`. */
  readonly options: string | undefined;
  readonly applicationName: string;
  /** Per host; undefined: the default of the engine. */
  readonly connectTimeoutMs: number | undefined;
  /** Undefined: a server's default is read-write with several hosts. */
  readonly session: Session | undefined;
  readonly tls: TlsMode;
  /** Paths of PEM files. */
  readonly tlsFiles: {
    /** Certificates to trust instead of the well-known ones. */
    readonly root: string | undefined;
    /** The client's certificate and its private key. */
    readonly certificate: string | undefined;
    readonly key: string | undefined;
  };
}

const example = "postgres://USER:PASSWORD@HOST:5432/DATABASE";
const defaultPort = 5432;

const tlsModes = ["disable", "require", "verify-ca", "verify-full"] as const;
const tlsHint =
  "verify-full (the default), verify-ca (any name, but only from the authorities in sslrootcert), require (encrypted, but to any server) or disable";
const sessions = ["any", "read-write", "primary"] as const;
const parameters = [
  "host",
  "options",
  "application_name",
  "connect_timeout",
  "target_session_attrs",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
];

/** User, password, hosts, database, parameters. URL itself accepts only one host. */
const urlPattern =
  /^postgres(?:ql)?:\/\/(?:([^/?#@:]*)(?::([^/?#@]*))?@)?([^/?#@]*)\/?([^?#@]*)(?:\?([^#@]*))?$/;
const hostPattern = /^(?:\[([\da-fA-F:.]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/;

/**
 * Parses `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETERS`; the scheme may be `postgresql:`. The
 * parameters have the names and meanings of libpq
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS), except that:
 *
 * - the default of `sslmode` is `verify-full`, or `disable` if every host is this machine
 * - the default of `target_session_attrs` is `read-write` for a server that is given several hosts
 * - `options` may set `search_path`, whose first schema contains the tables
 *
 * @throws StoreError `unusable`; it quotes names of parameters and modes, and nothing that could be part of a password
 */
export function parsePostgresUrl(text: string): PostgresLocation {
  const match = urlPattern.exec(text);
  if (match === null) {
    throw createUrlError(
      `is malformed: write ${example}, with %23 for # in a user or password, %25 for %, %2F for /, %3F for ? and %40 for @`,
    );
  }
  const [, user = "", password = "", authority = "", path = "", query = ""] = match;
  const search = new URLSearchParams(query);
  const unknown = [...search.keys()].find((name) => !parameters.includes(name));
  if (unknown !== undefined) {
    throw createUrlError(
      `has the unsupported parameter ${quoteInput(unknown)}: leave it out (supported are ${parameters.join(", ")})`,
    );
  }
  const hosts = parseHosts(authority, search.get("host"));
  const database = decodePart(path);
  if (database === "") throw createUrlError(`names no database: write ${example}`);
  return {
    hosts,
    database,
    user: decodePart(user) || undefined,
    password: decodePart(password) || undefined,
    options: search.get("options") ?? undefined,
    applicationName: search.get("application_name") ?? "plantstore",
    connectTimeoutMs: parseConnectTimeout(search.get("connect_timeout")),
    session: parseSession(search.get("target_session_attrs")),
    ...parseTls(search, hosts),
  };
}

/** Returns the name of a database for messages, without user and password. */
export function toShownUrl({ hosts, database }: PostgresLocation): string {
  const names = hosts.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`);
  return `postgres://${names.join(",")}/${database}`;
}

/** The parameter `host` replaces the names in the URL, for the directory of a Unix socket. */
function parseHosts(authority: string, parameter: string | null): readonly Host[] {
  const hosts = authority.split(",").map((part) => {
    const match = hostPattern.exec(decodePart(part));
    const [, address, name, port = defaultPort] = match ?? [];
    if (match === null || Number(port) > 65_535) {
      throw createUrlError(
        `is malformed: write ${example}, or HOST:PORT,HOST:PORT for several hosts`,
      );
    }
    return { host: address ?? (name || "localhost"), port: Number(port) };
  });
  if (parameter === null) return hosts;
  const port = hosts[0]?.port ?? defaultPort;
  return parameter.split(",").map((host, index) => ({ host, port: hosts[index]?.port ?? port }));
}

function parseConnectTimeout(seconds: string | null): number | undefined {
  if (seconds === null) return undefined;
  if (/^[1-9]\d{0,3}$/.test(seconds)) return Number(seconds) * 1000;
  throw createUrlError(`has the connect_timeout "${quoteInput(seconds)}": use 1 to 9999 seconds`);
}

function parseSession(name: string | null): Session | undefined {
  const session = sessions.find((known) => known === name);
  if (name === null || session !== undefined) return session;
  throw createUrlError(
    `has the unsupported target_session_attrs "${quoteInput(name)}": use ${sessions.join(", ")}`,
  );
}

function parseTls(
  search: URLSearchParams,
  hosts: readonly Host[],
): Pick<PostgresLocation, "tls" | "tlsFiles"> {
  const mode = search.get("sslmode") ?? (hosts.every(isThisMachine) ? "disable" : "verify-full");
  const tls = tlsModes.find((known) => known === mode);
  if (mode === "prefer" || mode === "allow") {
    throw createUrlError(`has sslmode=${mode}, which may silently skip encryption: use ${tlsHint}`);
  }
  if (tls === undefined) {
    throw createUrlError(`has an unknown sslmode "${quoteInput(mode)}": use ${tlsHint}`);
  }
  const [root, certificate, key] = ["sslrootcert", "sslcert", "sslkey"].map(
    (name) => search.get(name) ?? undefined,
  );
  if (root !== undefined && !tls.startsWith("verify-")) {
    throw createUrlError(
      `has sslrootcert, which sslmode=${tls} does not use: use sslmode=verify-full, or verify-ca when the certificate has another name`,
    );
  }
  if (root === undefined && tls === "verify-ca") {
    throw createUrlError(
      "has sslmode=verify-ca, which accepts any certificate: add sslrootcert=FILE with your authority's, or use sslmode=verify-full",
    );
  }
  if ((certificate === undefined) !== (key === undefined)) {
    throw createUrlError(
      "has only one of sslcert and sslkey: give the certificate and its private key",
    );
  }
  if (certificate !== undefined && tls === "disable") {
    throw createUrlError(
      "has sslcert, which sslmode=disable does not use: use sslmode=verify-full, or leave it out",
    );
  }
  return { tls, tlsFiles: { root, certificate, key } };
}

function isThisMachine({ host }: Host): boolean {
  return host.startsWith("/") || isLoopback(host);
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw createUrlError("has a % that encodes nothing: write %25 for a percent sign");
  }
}

function createUrlError(problem: string): StoreError {
  return new StoreError("unusable", `the URL of the store ${problem}`);
}
