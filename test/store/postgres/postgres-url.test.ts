/** A postgres:// URL says where the database is and how the connection is protected, and nothing is guessed. */
import { describe, expect, it } from "vitest";
import { parsePostgresUrl, toPlace } from "../../../src/store/postgres/postgres-url.ts";

describe("a postgres:// URL", () => {
  it("names host, port, database, user and password", () => {
    expect(parsePostgresUrl("postgres://ann:s3cret@db.example:6543/garden")).toStrictEqual({
      host: "db.example",
      port: 6543,
      database: "garden",
      user: "ann",
      password: "s3cret",
      options: undefined,
      tls: "verify-full",
      rootCertificatePath: undefined,
    });
  });

  it.each([
    ["postgresql: as well", "postgresql://h/d", { host: "h", port: 5432, database: "d" }],
    ["no user and no password", "postgres://h/d", { user: undefined, password: undefined }],
    [
      "encoded characters",
      "postgres://a%40b:%23%2F%3F%25@h/gar%20den",
      { user: "a@b", password: "#/?%", database: "gar den" },
    ],
    ["an IPv6 address", "postgres://[::1]:1/d", { host: "::1", port: 1, tls: "disable" }],
    ["no host", "postgres:///d", { host: "localhost", tls: "disable" }],
    [
      "the directory of a socket",
      "postgres:///d?host=/run/postgresql",
      { host: "/run/postgresql", tls: "disable" },
    ],
    ["options", "postgres://h/d?options=-c%20search_path=a", { options: "-c search_path=a" }],
    [
      "certificates to trust",
      "postgres://h/d?sslrootcert=/etc/ca.pem",
      { tls: "verify-full", rootCertificatePath: "/etc/ca.pem" },
    ],
  ])("%s", (_, url, expected) => {
    expect(parsePostgresUrl(url)).toMatchObject(expected);
  });

  it.each([
    ["db.example", "", "verify-full"],
    ["10.0.0.7", "", "verify-full"],
    ["localhost.example", "", "verify-full"],
    ["127.0.0.example", "", "verify-full"],
    ["localhost", "", "disable"],
    ["127.0.0.1", "", "disable"],
    ["localhost", "?sslmode=verify-full", "verify-full"],
    ["db.example", "?sslmode=verify-ca&sslrootcert=/ca.pem", "verify-ca"],
    ["db.example", "?sslmode=require", "require"],
    ["db.example", "?sslmode=disable", "disable"],
  ])("to %s%s has TLS mode %s", (host, search, tls) => {
    expect(parsePostgresUrl(`postgres://${host}/d${search}`).tls).toBe(tls);
  });

  it.each([
    ["no database", "postgres://u:s3cret@h", "names no database"],
    ["no database but a slash", "postgres://u:s3cret@h/", "names no database"],
    ["sslmode=prefer", "postgres://u:s3cret@h/d?sslmode=prefer", "silently do without"],
    ["sslmode=allow", "postgres://u:s3cret@h/d?sslmode=allow", "silently do without"],
    ["an unknown sslmode", "postgres://u:s3cret@h/d?sslmode=no-verify", 'sslmode "no-verify"'],
    ["an unknown parameter", "postgres://u:s3cret@h/d?ssl=true", "parameter ssl,"],
    [
      "certificates that would not be looked at",
      "postgres://u:s3cret@h/d?sslmode=require&sslrootcert=/ca.pem",
      "makes no use of",
    ],
    ["sslmode=verify-ca alone", "postgres://u:s3cret@h/d?sslmode=verify-ca", "sslrootcert=FILE"],
    ["a port that is none", "postgres://u:s3cret@h:port/d", "can't be read"],
    ["a # in the password", "postgres://u:12#s3cret@h/d", "can't be read"],
    ["a / in the password", "postgres://u:12/s3cret@h/d", "can't be read"],
    ["a ? in the password", "postgres://u:12?s3cret@h/d", "can't be read"],
    ["a % in the password", "postgres://u:100%s3cret@h/d", "%25"],
  ])("is refused with %s, and its password is not repeated", (_, url, complaint) => {
    const parse = () => parsePostgresUrl(url);
    expect(parse).toThrow(expect.objectContaining({ name: "StoreError", reason: "unusable" }));
    expect(parse).toThrow(complaint);
    expect(parse).not.toThrow(/s3cret|\n/);
  });

  it("is named in messages without user and password", () => {
    expect(toPlace(parsePostgresUrl("postgres://ann:s3cret@h/d"))).toBe("postgres://h:5432/d");
    expect(toPlace(parsePostgresUrl("postgres://[::1]/d"))).toBe("postgres://[::1]:5432/d");
  });
});
