/** The certificate of a server: its key, and its end after weeks. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import type { ServerRun } from "../../../../src/cli/commands/serve/serve-options.ts";
import { readTlsFiles, watchExpiry } from "../../../../src/cli/commands/serve/tls-files.ts";
import { createCertificate } from "../../../helpers/certificate.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

it("is rejected if it is not the first one in its file", async () => {
  const directory = await createTemporaryDirectory();
  const [certFile, keyFile] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const { cert, key } = createCertificate("localhost");
  await writeFile(certFile, createCertificate("Issuer").cert + cert);
  await writeFile(keyFile, key);
  await expect(readTlsFiles({ certFile, keyFile })).rejects.toThrow(
    `the key in ${keyFile} does not match the first certificate in ${certFile}: begin with the certificate of the server, and put its issuer after each one`,
  );
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
