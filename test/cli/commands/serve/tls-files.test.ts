/** The certificate of a server: its issuers, and its end after weeks. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ServerRun } from "../../../../src/cli/commands/serve/serve-options.ts";
import {
  findCertificateProblems,
  readTlsFiles,
  watchExpiry,
} from "../../../../src/cli/commands/serve/tls-files.ts";
import { createCertificate } from "../../../helpers/certificate.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

describe("a certificate of the server is warned about", () => {
  const root = createCertificate("Root");
  const upper = createCertificate("Upper", undefined, { name: "Root", key: root.key });
  const lower = createCertificate("Lower", undefined, { name: "Upper", key: upper.key });
  const leaf = createCertificate("localhost", undefined, { name: "Lower", key: lower.key });
  // Without the identifier of a key, only names and the algorithm are compared.
  const known = createCertificate("localhost", undefined, {
    name: "C=US\nO=Internet Security Research Group\nCN=ISRG Root X2",
    key: root.key,
  });
  const findProblems = (...chain: readonly { readonly cert: string }[]): readonly string[] =>
    findCertificateProblems({
      certificate: { cert: chain.map(({ cert }) => cert).join(""), key: leaf.key },
      options: { tls: { certFile: "cert.pem", keyFile: "key.pem" } } as ServerRun["options"],
    });
  const lacks = (issuer: string, subject: string): readonly string[] => [
    `cert.pem has no certificate of ${issuer}, which issued that of ${subject}, and Node.js knows none: add it unless clients trust it (certbot writes all of them to fullchain.pem)`,
  ];

  it("if its issuer is not in the file, and no authority that Node knows", () => {
    expect(findProblems(leaf)).toEqual(lacks("Lower", "localhost"));
    expect(findProblems(leaf, root)).toEqual(lacks("Lower", "localhost"));
    expect(findProblems(leaf, lower)).toEqual(lacks("Upper", "Lower"));
    expect(findProblems(leaf, lower, upper)).toEqual(lacks("Root", "Upper"));
  });

  it("if the others are not in the order of their issuers", () => {
    const wrong = expect.stringMatching(/^the certificates in cert\.pem are in the wrong order: /);
    expect(findProblems(leaf, upper, lower, root)).toEqual([wrong]);
    expect(findProblems(leaf, root, lower, upper)).toEqual([wrong]);
  });

  it("not if it is complete, or issued itself", () => {
    expect(findProblems(leaf, lower, upper, root)).toEqual([]);
    expect(findProblems(createCertificate("localhost"))).toEqual([]);
  });

  it("not if Node knows its issuer", () => {
    expect(findProblems(known)).toEqual([]);
  });

  it("or rejected, if another one is the first", async () => {
    const directory = await createTemporaryDirectory();
    const [certFile, keyFile] = [join(directory, "cert.pem"), join(directory, "key.pem")];
    await writeFile(certFile, lower.cert + leaf.cert);
    await writeFile(keyFile, leaf.key);
    await expect(readTlsFiles({ certFile, keyFile })).rejects.toThrow(
      `the key in ${keyFile} does not match the first certificate in ${certFile}: begin with the certificate of the server, and put its issuer after each one`,
    );
  });
});

it("is checked every day: the log warns from 14 days before its end", () => {
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
