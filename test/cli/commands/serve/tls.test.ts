/** `plantstore serve` with TLS: the certificate and its key, at start and at SIGHUP. */
import { execFileSync } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { connect } from "node:tls";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ServerRun } from "../../../../src/cli/commands/serve/serve-options.ts";
import { readTlsFiles, watchExpiry } from "../../../../src/cli/commands/serve/tls-files.ts";
import { createCertificate } from "../../../helpers/certificate.ts";
import { allTerminals } from "../../../helpers/run-cli.ts";
import { failToServe, inHome, serve, serveOnce, useHome } from "./serve-home.ts";

useHome();

describe("--tls-cert and --tls-key", () => {
  async function writeCertificate(name = "localhost", endMs?: number) {
    const { cert, key } = createCertificate(name, endMs);
    await writeFile(inHome("cert.pem"), cert);
    await writeFile(inHome("key.pem"), key);
    await writeFile(inHome("other.pem"), createCertificate(name).key);
    const password = { cipher: "aes256", passphrase: "secret" };
    const encrypted = createPrivateKey(key).export({ type: "pkcs8", format: "pem", ...password });
    await writeFile(inHome("encrypted.pem"), encrypted);
    return ["--tls-cert", inHome("cert.pem"), "--tls-key", inHome("key.pem")];
  }

  it("serve HTTPS, and SIGHUP reloads both files", async () => {
    const run = await serve(await writeCertificate());
    await writeCertificate("elsewhere");
    run.hangUp();
    await run.saw("SIGHUP: the certificate was reloaded");
    const { port, protocol } = new URL(run.url);
    expect(protocol).toBe("https:");
    const client = connect({ port: Number(port), rejectUnauthorized: false });
    await once(client, "secureConnect");
    expect(client.getPeerCertificate().subject.CN).toBe("elsewhere");
    client.destroy();

    await writeFile(inHome("key.pem"), "");
    run.hangUp();
    await run.saw('"level":"error","message":"SIGHUP: ');
    await run.saw("; the old certificate stays in use");

    // A read of a pipe would never end, and would block the exit.
    await rm(inHome("key.pem"));
    execFileSync("mkfifo", [inHome("key.pem")]);
    run.hangUp();
    await run.saw("key.pem cannot be read: it is not a regular file; the old certificate stays");
    expect(await run.stop()).toMatchObject({ exitCode: 0 });
  });

  const inDays = (days: number): number => Date.now() + days * 24 * 60 * 60 * 1000;

  it.each<[days: number, verb: string]>([
    [-1, "expired on DATE, and clients reject it: renew it"],
    [13, "expires on DATE: renew it"],
  ])("warn about a certificate that ends in %d days, at start and SIGHUP", async (days, text) => {
    const endMs = inDays(days);
    const args = await writeCertificate("localhost", endMs);
    const date = new Date(endMs).toISOString().slice(0, 10);
    const warning = `the certificate in ${inHome("cert.pem")} ${text.replace("DATE", date)}`;
    const run = await serve(args);
    await run.saw(`"level":"warn","message":"${warning}"`);
    run.hangUp();
    await run.saw("SIGHUP: the certificate was reloaded");
    const { stderr } = await run.stop();
    expect(stderr.split(warning)).toHaveLength(3);

    const shown = await serveOnce([...args, "--no-color"], { terminals: allTerminals });
    expect(shown.stderr.replaceAll("\n", " ")).toContain(`warning: ${warning} `);
  });

  it.each<[what: string, toArgs: (args: readonly string[]) => readonly string[], message: RegExp]>([
    ["one without the other", (args) => args.slice(0, 2), /must be set together/],
    [
      "on a Unix socket",
      (args) => [...args, "--socket", "plants.sock"],
      /--socket does not support TLS/,
    ],
    [
      "a missing file",
      ([a = "", ...rest]) => [a, "/nonexistent", ...rest.slice(1)],
      /^error: --tls-cert: \/nonexistent does not exist\n$/m,
    ],
    [
      "a key of another certificate",
      ([a = "", b = "", c = ""]) => [a, b, c, b.replace("cert.pem", "other.pem")],
      /the key in \S+other\.pem does not match the first certificate in \S+cert\.pem: /,
    ],
    [
      "a key instead of a certificate",
      ([a = "", , ...rest]) => [a, rest[1] ?? "", ...rest],
      /key\.pem contains no certificate in PEM: no start line\n/,
    ],
    [
      "a certificate instead of a key",
      ([a = "", b = "", c = ""]) => [a, b, c, b],
      /cert\.pem contains no private key in PEM: /,
    ],
    [
      "a key with a password",
      ([a = "", b = "", c = ""]) => [a, b, c, b.replace("cert.pem", "encrypted.pem")],
      /encrypted\.pem is encrypted\nWrite it without a password:\n {2}openssl pkey -in \S+encrypted\.pem -out FILE\n/,
    ],
  ])("reject %s", async (_what, toArgs, message) => {
    const args = toArgs(await writeCertificate());
    expect(await failToServe(["--store", "memory:", ...args])).toExit(2, message);
  });
});

it("a certificate is rejected if it is not the first one in its file", async () => {
  const [certFile, keyFile] = [inHome("cert.pem"), inHome("key.pem")];
  const { cert, key } = createCertificate("localhost");
  await writeFile(certFile, createCertificate("Issuer").cert + cert);
  await writeFile(keyFile, key);
  await expect(readTlsFiles({ certFile, keyFile })).rejects.toThrow(
    `the key in ${keyFile} does not match the first certificate in ${certFile}: begin with the certificate of the server, and put its issuer after each one`,
  );
});

it("a certificate is checked every day: the log warns from 14 days before its end", () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const run = {
    certificate: createCertificate("localhost", Date.UTC(2026, 0, 17, 12)),
    options: { tls: { certFile: "cert.pem", keyFile: "key.pem" } } as ServerRun["options"],
    log: {
      message: (...line: readonly string[]) => lines.push(line.join(" ")),
    } as unknown as ServerRun["log"],
  };
  watchExpiry(run);
  const afterDays = (days: number): readonly string[] => {
    vi.advanceTimersByTime(days * 24 * 60 * 60 * 1000);
    return lines.splice(0);
  };
  expect(afterDays(2)).toEqual([]);
  const due = "warn the certificate in cert.pem expires on 2026-01-17: renew it";
  expect(afterDays(14)).toEqual(Array.from({ length: 14 }, () => due));
  expect(afterDays(1)).toEqual([
    "warn the certificate in cert.pem expired on 2026-01-17, and clients reject it: renew it",
  ]);
  run.certificate = createCertificate("localhost");
  expect(afterDays(30)).toEqual([]);
});
