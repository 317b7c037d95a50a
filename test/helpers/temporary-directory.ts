/** A directory for one test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { checkFiles } from "./secrecy.ts";

/** Creates an empty directory; when the test that asked for it has ended, it is searched for tokens and removed. */
export async function createTemporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "plantstore-test-"));
  onTestFinished(async () => {
    try {
      await checkFiles(path);
    } finally {
      await rm(path, { recursive: true, force: true });
    }
  });
  return path;
}
