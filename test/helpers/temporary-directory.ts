/** Directories for tests. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { checkFiles } from "./secrecy.ts";

/** Registers work for the end of a test or of a suite. */
export type OnEnd = (work: () => Promise<void>) => void;

/** Creates an empty directory. At the end, by default of the test, it is searched for tokens and removed. */
export async function createTemporaryDirectory(onEnd: OnEnd = onTestFinished): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "plantstore-test-"));
  onEnd(async () => {
    try {
      await checkFiles(path);
    } finally {
      await rm(path, { recursive: true, force: true });
    }
  });
  return path;
}
