import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Io } from "../../../src/cli/io.ts";
import {
  readServeOptions,
  type ServeOptions,
} from "../../../src/cli/commands/serve/serve-options.ts";
import { createOptions } from "../../../src/cli/options/remote.ts";
import { type Flags, readOptions, type Values } from "../../../src/cli/options/values.ts";

type ClientOptions = Values<typeof createOptions>;

const toServeOptions = (flags: Flags, io: Io): ServeOptions => readServeOptions({ flags, io });
const readClientOptions = (flags: Flags, io: Io): ClientOptions =>
  readOptions(createOptions, flags, io);

/** Everything that options are read from. */
function createIo(env: Readonly<Record<string, string>> = {}): Io {
  const stderr = new PassThrough();
  const io: Partial<Io> = {
    env,
    platform: "linux",
    homeDirectory: "/home/fern",
    stderr,
    showPages: async () => false,
    readOpenFilesLimit: () => 20_000,
  };
  return io as Io;
}

it("serve, by default, listens on 127.0.0.1:7526 and keeps plants in the data directory", () => {
  expect(toServeOptions({}, createIo())).toEqual({
    host: "127.0.0.1",
    port: 7526,
    socketPath: undefined,
    tls: undefined,
    basePath: "",
    maxBodyBytes: 1_048_576,
    maxInflight: 4096,
    maxConnections: 10_000,
    requestTimeoutMs: 60_000,
    idleTimeoutMs: 75_000,
    drainMs: 0,
    shutdownTimeoutMs: 10_000,
    operations: "create",
    onConflict: "reject",
    seeds: [],
    statusMode: "contract",
    docs: true,
    corsOrigins: [],
    store: "sqlite:/home/fern/.local/share/plantstore/plants.db",
    storeKind: "file",
    metricsAddress: undefined,
    logFormat: "json",
    logLevel: "info",
  });
});

describe("a setting", () => {
  it("has its default where the environment is empty", () => {
    expect(toServeOptions({}, createIo({ PLANTSTORE_PORT: "" })).port).toBe(7526);
  });

  it("that is wrong is named by its flag", () => {
    const resolve = () => toServeOptions({ port: "x" }, createIo({ PLANTSTORE_PORT: "2" }));
    expect(resolve).toThrow('--port must be a whole number from 0 to 65535 (got "x")');
  });

  it("that is invalid is reported with its variable", () => {
    const resolve = () => toServeOptions({}, createIo({ PLANTSTORE_PORT: "x" }));
    expect(resolve).toThrow('PLANTSTORE_PORT must be a whole number from 0 to 65535 (got "x")');
  });

  it("that is an empty flag is rejected", () => {
    expect(() => toServeOptions({ host: "" }, createIo())).toThrow(
      '--host must be a host name or an IP address, without a port or a zone (got "")',
    );
  });

  it.each<[variable: string, text: string, options: Partial<ServeOptions>]>([
    ["PLANTSTORE_HOST", "::1", { host: "::1" }],
    ["PLANTSTORE_BASE_PATH", "/v1", { basePath: "/v1" }],
    ["PLANTSTORE_MAX_BODY", "2KiB", { maxBodyBytes: 2048 }],
    ["PLANTSTORE_MAX_INFLIGHT", "1", { maxInflight: 1 }],
    ["PLANTSTORE_MAX_CONNECTIONS", "1", { maxConnections: 1 }],
    ["PLANTSTORE_REQUEST_TIMEOUT", "0.5", { requestTimeoutMs: 500 }],
    ["PLANTSTORE_IDLE_TIMEOUT", "5", { idleTimeoutMs: 5000 }],
    ["PLANTSTORE_SHUTDOWN_TIMEOUT", "30", { shutdownTimeoutMs: 30_000 }],
    ["PLANTSTORE_ON_CONFLICT", "replace", { onConflict: "replace" }],
    ["PLANTSTORE_SOCKET", "/run/plants.sock", { socketPath: "/run/plants.sock" }],
    ["PLANTSTORE_METRICS", "main", { metricsAddress: "main" }],
    ["PLANTSTORE_METRICS", "[::1]:9526", { metricsAddress: { host: "::1", port: 9526 } }],
    ["PLANTSTORE_LOG_FORMAT", "text", { logFormat: "text" }],
    ["PLANTSTORE_LOG_LEVEL", "debug", { logLevel: "debug" }],
    ["PLANTSTORE_PUBLIC_URL", "https://a.example/v1/", { publicUrl: "https://a.example/v1" }],
    ["PLANTSTORE_NO_DOCS", "1", { docs: false }],
    ["PLANTSTORE_NO_DOCS", "0", { docs: true }],
    ["PLANTSTORE_CORS_ORIGIN", "*", { corsOrigins: ["*"] }],
    [
      "PLANTSTORE_CORS_ORIGIN",
      "https://a.example, http://b.example:81",
      { corsOrigins: ["https://a.example", "http://b.example:81"] },
    ],
    ["PLANTSTORE_STORE", "memory:", { store: "memory:" }],
    ["PLANTSTORE_DATA_DIR", "/srv", { store: "sqlite:/srv/plants.db" }],
    ["PLANTSTORE_TOKEN", "chosen", { environmentToken: "chosen" }],
  ])("of serve comes from %s", (variable, text, options) => {
    expect(toServeOptions({}, createIo({ [variable]: text }))).toMatchObject(options);
  });
});

describe("a value for serve", () => {
  it.each<[Flags, Partial<ServeOptions>]>([
    [{ host: "localhost" }, { host: "localhost" }],
    [{ docs: "1" }, { docs: false }],
    [{ docs: "0" }, { docs: true }],
    [{ host: "0.0.0.0" }, { host: "0.0.0.0" }],
    [{ host: "[::]" }, { host: "::" }],
    [{ port: "0" }, { port: 0 }],
    [{ port: "65535" }, { port: 65_535 }],
    [{ basePath: "" }, { basePath: "" }],
    [{ basePath: "/" }, { basePath: "" }],
    [{ basePath: "v1" }, { basePath: "/v1" }],
    [{ basePath: "/api/v1.0_~-/" }, { basePath: "/api/v1.0_~-" }],
    [{ maxBodyBytes: "1048576" }, { maxBodyBytes: 1_048_576 }],
    [{ maxBodyBytes: "64KiB" }, { maxBodyBytes: 65_536 }],
    [{ maxBodyBytes: "1mib" }, { maxBodyBytes: 1_048_576 }],
    [{ maxBodyBytes: "64MiB" }, { maxBodyBytes: 67_108_864 }],
    [{ corsOrigins: "" }, { corsOrigins: [] }],
    [{ corsOrigins: "HTTPS://A.Example:443/" }, { corsOrigins: ["https://a.example"] }],
    [
      { corsOrigins: "http://[::1]:81 https://a.example" },
      { corsOrigins: ["http://[::1]:81", "https://a.example"] },
    ],
    [{ store: "sqlite:plants.db" }, { store: "sqlite:plants.db" }],
  ])("%j gives %j", (flags, options) => {
    expect(toServeOptions(flags, createIo())).toMatchObject(options);
  });

  it.each<[Flags]>([
    [{ host: "127.0.0.1:80" }],
    [{ host: "http://localhost" }],
    [{ host: "[localhost]" }],
    [{ host: "::1%lo" }],
    [{ metricsAddress: "[::1%lo]:9526" }],
    [{ port: "65536" }],
    [{ port: "-1" }],
    [{ port: "1e3" }],
    [{ port: "80 " }],
    [{ port: "" }],
    [{ basePath: "/a b" }],
    [{ basePath: "/%41" }],
    [{ basePath: "//v1" }],
    [{ basePath: "/v1/../v2" }],
    [{ basePath: "/." }],
    [{ basePath: "/v1?x" }],
    [{ maxBodyBytes: "0" }],
    [{ maxBodyBytes: "1MB" }],
    [{ maxBodyBytes: "65MiB" }],
    [{ maxBodyBytes: "1.5MiB" }],
    [{ maxInflight: "0" }],
    [{ maxConnections: "0" }],
    [{ requestTimeoutMs: "0" }],
    [{ onConflict: "ignore" }],
    [{ logFormat: "xml" }],
    [{ metricsAddress: "9526" }],
    [{ metricsAddress: "localhost:" }],
    [{ metricsAddress: "localhost:70000" }],
    [{ logLevel: "all" }],
  ])("%j is refused", (flags) => {
    expect(() => toServeOptions(flags, createIo())).toThrow(/^--[a-z-]+ must be .* \(got ".*"\)$/);
  });

  it.each([
    "a.example",
    "null",
    "**",
    "https://*.a.example",
    "https://a.example/app",
    "https://a.example?",
    "https://a.example/#x",
    "ftp://a.example",
    "https://good.example,a.example",
  ])("--cors-origin %s is rejected", (corsOrigins) => {
    expect(() => toServeOptions({ corsOrigins }, createIo())).toThrow(
      /^--cors-origin must be an origin such as .* \(got ".*"\)$/,
    );
  });

  it("may hold no password, and then is not quoted", () => {
    const resolve = () => toServeOptions({ corsOrigins: "https://u:s3cret@a.b" }, createIo());
    expect(resolve).toThrow(/^--cors-origin contains a user name or a password/);
    expect(resolve).not.toThrow(/s3cret/);
  });

  it.each(["", "sqlite:", "plants.db", "mysql://user:s3cret@host/db"])(
    "--store %j is refused as the stores themselves refuse it, without what may be a password",
    (store) => {
      const resolve = () => toServeOptions({ store }, createIo());
      expect(resolve).toThrow(/^--store is invalid: [^]*sqlite:/);
      expect(resolve).not.toThrow(/s3cret/);
    },
  );

  it("--cors-origin is * alone or origins, and not both", () => {
    const resolve = () => toServeOptions({ corsOrigins: "*,https://a.example" }, createIo());
    expect(resolve).toThrow(/^--cors-origin must be \* alone or a list of origins/);
  });

  it("has no line break at its end, as secrets from files do", () => {
    const { environmentToken } = toServeOptions({}, createIo({ PLANTSTORE_TOKEN: "token\n" }));
    expect(environmentToken).toBe("token");
  });

  it("may not be a token that no client can send", () => {
    const resolve = () => toServeOptions({}, createIo({ PLANTSTORE_TOKEN: "two words" }));
    expect(resolve).toThrow(/^the token in PLANTSTORE_TOKEN contains a space/);
    expect(resolve).not.toThrow(/two words/);
  });
});

describe("--url", () => {
  it.each([
    ["http://127.0.0.1:7526", "http://127.0.0.1:7526"],
    ["http://127.0.0.1:7526/", "http://127.0.0.1:7526"],
    ["HTTPS://Plants.Example:443/v1/", "https://plants.example/v1"],
    ["http://[::1]:80/a/b//", "http://[::1]/a/b"],
  ])("%s means %s", (text, baseUrl) => {
    expect(readClientOptions({ url: text }, createIo()).url).toBe(baseUrl);
  });

  it.each([
    ["127.0.0.1:7526", "a URL with its scheme: write http://127.0.0.1:7526"],
    ["localhost:7526/v1", "a URL with its scheme: write http://localhost:7526/v1"],
    ["plants.example.org", "a URL with its scheme: write https://plants.example.org"],
    ["", "a URL such as http://127.0.0.1:7526"],
    ["ftp://plants.example", "a URL such as http://127.0.0.1:7526"],
    ["http://plants.example/?a", "a URL without ? and #"],
    ["http://plants.example/#a", "a URL without ? and #"],
  ])("may not be %j", (text, rule) => {
    const resolve = () => readClientOptions({ url: text }, createIo());
    expect(resolve).toThrow(`--url must be ${rule} (got "${text}")`);
  });

  it.each(["http://fern:s3cret@plants.example", "http://:s3cret@plants.example"])(
    "may not hold a password, which is not shown: %s",
    (text) => {
      const resolve = () => readClientOptions({ url: text }, createIo());
      expect(resolve).toThrow("--url contains a user name or a password");
      expect(resolve).not.toThrow(/s3cret/);
    },
  );
});

describe("--timeout and --retry", () => {
  it.each([
    ["10", 10_000],
    ["0.001", 1],
    ["86400", 86_400_000],
    ["500ms", 500],
    ["0.5s", 500],
    ["2m", 120_000],
    ["24h", 86_400_000],
    ["1d", 86_400_000],
  ])("--timeout %s is %i ms", (text, timeoutMs) => {
    expect(readClientOptions({ timeoutMs: text }, createIo()).timeoutMs).toBe(timeoutMs);
  });

  it.each(["0", "0s", "0.0001", "-1", "1 s", "1w", "1S", "s", "86401", "25h", "Infinity", ""])(
    "--timeout %j is rejected",
    (text) => {
      const resolve = () => readClientOptions({ timeoutMs: text }, createIo());
      expect(resolve).toThrow(
        `--timeout must be a time such as 500ms, 10s or 2m, from 1ms to 1d (got "${text}")`,
      );
    },
  );

  it.each(["-1", "101", "1.5", ""])("--retry %j is refused", (text) => {
    const resolve = () => readClientOptions({ retries: text }, createIo());
    expect(resolve).toThrow(`--retry must be a whole number from 0 to 100 (got "${text}")`);
  });
});
