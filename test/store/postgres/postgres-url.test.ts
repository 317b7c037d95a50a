/** A postgres:// URL names the hosts of a database and the protection of the connection; nothing is guessed. */
import { describe, expect, it } from "vitest";
import { parsePostgresUrl, toShownUrl } from "../../../src/store/postgres/postgres-url.ts";

const noFiles = { root: undefined, certificate: undefined, key: undefined };

describe("a postgres:// URL", () => {
  it("names host, port, database, user and password", () => {
    expect(parsePostgresUrl("postgres://ann:s3cret@db.example:6543/garden")).toStrictEqual({
      hosts: [{ host: "db.example", port: 6543 }],
      database: "garden",
      user: "ann",
      password: "s3cret",
      options: undefined,
      applicationName: "plantstore",
      connectTimeoutMs: undefined,
      session: undefined,
      tls: "verify-full",
      tlsFiles: noFiles,
    });
  });

  it.each([
    [
      "the scheme postgresql:",
      "postgresql://h/d",
      { hosts: [{ host: "h", port: 5432 }], database: "d" },
    ],
    ["no user and no password", "postgres://h/d", { user: undefined, password: undefined }],
    [
      "encoded characters",
      "postgres://a%40b:%23%2F%3F%25@h/gar%20den",
      { user: "a@b", password: "#/?%", database: "gar den" },
    ],
    ["a colon in a password", "postgres://a:b:c@h/d", { user: "a", password: "b:c" }],
    [
      "an IPv6 address",
      "postgres://[::1]:1/d",
      { hosts: [{ host: "::1", port: 1 }], tls: "disable" },
    ],
    ["no host", "postgres:///d", { hosts: [{ host: "localhost", port: 5432 }], tls: "disable" }],
    [
      "the directory of a socket",
      "postgres:///d?host=/run/postgresql",
      { hosts: [{ host: "/run/postgresql", port: 5432 }], tls: "disable" },
    ],
    [
      "several hosts",
      "postgres://u@h1:1,[::1]:2,h3/d",
      {
        hosts: [
          { host: "h1", port: 1 },
          { host: "::1", port: 2 },
          { host: "h3", port: 5432 },
        ],
        user: "u",
        tls: "verify-full",
      },
    ],
    ["hosts that are all this machine", "postgres://localhost,127.0.0.2/d", { tls: "disable" }],
    ["options", "postgres://h/d?options=-c%20search_path=a", { options: "-c search_path=a" }],
    [
      "parameters of the connection",
      "postgres://h/d?target_session_attrs=primary&connect_timeout=7&application_name=garden",
      { session: "primary", connectTimeoutMs: 7000, applicationName: "garden" },
    ],
    [
      "certificates to trust",
      "postgres://h/d?sslrootcert=/etc/ca.pem",
      { tls: "verify-full", tlsFiles: { ...noFiles, root: "/etc/ca.pem" } },
    ],
    [
      "a client certificate",
      "postgres://h/d?sslcert=/c.pem&sslkey=/k.pem",
      { tlsFiles: { ...noFiles, certificate: "/c.pem", key: "/k.pem" } },
    ],
  ])("accepts %s", (_, url, expected) => {
    expect(parsePostgresUrl(url)).toMatchObject(expected);
  });

  it.each([
    ["db.example", "", "verify-full"],
    ["10.0.0.7", "", "verify-full"],
    ["localhost.example", "", "verify-full"],
    ["127.0.0.example", "", "verify-full"],
    ["localhost,db.example", "", "verify-full"],
    ["localhost", "", "disable"],
    ["127.0.0.1", "", "disable"],
    ["localhost", "?sslmode=verify-full", "verify-full"],
    ["db.example", "?sslmode=verify-ca&sslrootcert=/ca.pem", "verify-ca"],
    ["db.example", "?sslmode=require", "require"],
    ["db.example", "?sslmode=disable", "disable"],
  ])("to %s%s has the TLS mode %s", (host, search, tls) => {
    expect(parsePostgresUrl(`postgres://${host}/d${search}`).tls).toBe(tls);
  });

  it.each([
    ["no database", "postgres://u:s3cret@h", "names no database"],
    ["no database after the slash", "postgres://u:s3cret@h/", "names no database"],
    ["sslmode=prefer", "postgres://u:s3cret@h/d?sslmode=prefer", "silently skip encryption"],
    ["sslmode=allow", "postgres://u:s3cret@h/d?sslmode=allow", "silently skip encryption"],
    ["an unknown sslmode", "postgres://u:s3cret@h/d?sslmode=no-verify", 'sslmode "no-verify"'],
    ["an unsupported parameter", "postgres://u:s3cret@h/d?ssl=true", "parameter ssl:"],
    ["channel_binding", "postgres://u:s3cret@h/d?channel_binding=require", "channel_binding:"],
    [
      "an unsupported target_session_attrs",
      "postgres://u:s3cret@h/d?target_session_attrs=standby",
      'target_session_attrs "standby": use any, read-write, primary',
    ],
    ["no connect_timeout", "postgres://u:s3cret@h/d?connect_timeout=0", 'connect_timeout "0"'],
    [
      "certificates that are not used",
      "postgres://u:s3cret@h/d?sslmode=require&sslrootcert=/ca.pem",
      "does not use",
    ],
    ["sslmode=verify-ca alone", "postgres://u:s3cret@h/d?sslmode=verify-ca", "sslrootcert=FILE"],
    ["sslcert alone", "postgres://u:s3cret@h/d?sslcert=/c.pem", "only one of sslcert and sslkey"],
    [
      "a client certificate without TLS",
      "postgres://u:s3cret@localhost/d?sslcert=/c.pem&sslkey=/k.pem",
      "sslmode=disable does not use",
    ],
    ["an invalid port", "postgres://u:s3cret@h:port/d", "is malformed"],
    ["a port over the range", "postgres://u:s3cret@h1,h2:70000/d", "is malformed"],
    ["a # in the password", "postgres://u:12#s3cret@h/d", "is malformed"],
    ["a / in the password", "postgres://u:12/s3cret@h/d", "is malformed"],
    ["a ? in the password", "postgres://u:12?s3cret@h/d", "is malformed"],
    ["a % in the password", "postgres://u:100%s3cret@h/d", "%25"],
  ])("is rejected with %s, and the error does not contain the password", (_, url, problem) => {
    const parse = () => parsePostgresUrl(url);
    expect(parse).toThrow(expect.objectContaining({ name: "StoreError", reason: "unusable" }));
    expect(parse).toThrow(problem);
    expect(parse).not.toThrow(/s3cret|\n/);
  });

  it.each([
    ["postgres://ann:s3cret@h/d", "postgres://h:5432/d"],
    ["postgres://[::1]/d", "postgres://[::1]:5432/d"],
    ["postgres://u:s3cret@h1:1,h2/d", "postgres://h1:1,h2:5432/d"],
  ])("%s appears in messages as %s", (url, shown) => {
    expect(toShownUrl(parsePostgresUrl(url))).toBe(shown);
  });
});
