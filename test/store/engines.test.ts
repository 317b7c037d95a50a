/** The rows of the engines: what help, and the commands that work on files, derive from them. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { backupStore, restoreStore, verifyStore } from "../../src/store/open-store.ts";
import { memoryType } from "../../src/store/memory.ts";
import { describeForms } from "../../src/store/store-url.ts";
import type { StoreLocation } from "../../src/store/store-location.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";

/** The store of a trial engine: a file that nothing can back up. */
function toTrial(url: string): StoreLocation {
  return {
    url,
    absoluteUrl: url,
    isVolatile: false,
    isShared: false,
    path: url.slice("memory:".length),
    files: (operation) => `plantstore cannot ${operation} a duck`,
    openEngine: () => Promise.reject(new Error("trial")),
    openReader: () => Promise.reject(new Error("trial")),
  };
}

const work = { signal: new AbortController().signal, onCopy: () => undefined, isForced: true };

it("of an engine without operations on files make them fail, and write nothing", async () => {
  const backup = await createSqliteStore([{ id: 1n, name: "fern" }]);
  const directory = await createTemporaryDirectory();
  const locate = vi.spyOn(memoryType, "locate").mockImplementation(toTrial);
  onTestFinished(() => locate.mockRestore());
  const url = `memory:${join(directory, "new.duck")}`;
  for (const [call, operation] of [
    [() => restoreStore(backup, url, { ...work, onReplaced: () => undefined }), "restore"],
    [() => backupStore(url, join(directory, "backup"), work), "back up"],
    [() => backupStore(backup, url, work), "back up"],
    [() => verifyStore(url), "verify"],
  ] as const) {
    await expect(call()).rejects.toMatchObject({
      name: "StoreError",
      reason: "unusable",
      message: `plantstore cannot ${operation} a duck`,
    });
  }
  expect(await readdir(directory)).toEqual([]);
});

it("appear in help", () => {
  expect(describeForms("any")).toBe("sqlite:PATH, postgres:// or memory:");
  expect(describeForms("shared")).toBe("sqlite:PATH or postgres://");
});
