/** A small disk in memory, which a test fills up. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { run } from "./run.ts";
import { createTemporaryDirectory } from "./temporary-directory.ts";

/** Checks whether this user may mount disks. */
export async function canMountSmallDisks(): Promise<boolean> {
  return run("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).then(
    () => true,
    () => false,
  );
}

/** Mounts a disk, which is unmounted when the test ends. @returns its directory */
export async function openSmallDisk(megabytes: number): Promise<string> {
  const disk = await createTemporaryDirectory();
  await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", disk]);
  onTestFinished(async () => void (await run("umount", ["--lazy", disk])));
  return disk;
}

/** Changes the size of a disk. */
export async function resizeDisk(disk: string, megabytes: number): Promise<void> {
  await run("mount", ["-o", `remount,size=${megabytes}m`, disk]);
}

/** Forbids every user to write to a disk. */
export async function makeReadOnly(disk: string): Promise<void> {
  await run("mount", ["-o", "remount,ro", disk]);
}

/** Fills a disk of less than 16 MB with a file. */
export async function fillDisk(disk: string): Promise<void> {
  const byteCount = 16 * 1024 * 1024;
  const error: unknown = await writeFile(join(disk, "filler"), Buffer.alloc(byteCount)).catch(
    (cause: unknown) => cause,
  );
  if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) {
    throw new Error(`${disk} is not full`, { cause: error });
  }
}
