/** A directory for one test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates an empty directory; it is removed when the test that asked for it has ended. */
export async function createTemporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "plantstore-test-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}
