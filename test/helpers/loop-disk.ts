/** A disk that can lose its power: an ext4 file system in a file. Only flushed data survives. */
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./run.ts";

/** A mounted disk. */
export type LoopDisk = Awaited<ReturnType<typeof openLoopDisk>>;

/** Checks whether this machine can mount disks, which takes root and a loop device. */
export async function canMountDisks(): Promise<boolean> {
  try {
    await (await openLoopDisk()).close();
    return true;
  } catch {
    return false;
  }
}

/** Creates and mounts a disk of 256 MB. The caller closes it. */
export async function openLoopDisk() {
  const parent = await mkdtemp(join(tmpdir(), "plantstore-disk-"));
  const image = join(parent, "disk.img");
  const directory = join(parent, "disk");
  const copyDirectory = join(parent, "copy");

  const unmount = (path: string) => run("umount", ["--lazy", path]);
  // Without a request to flush, the file system itself writes nothing for an hour.
  const mount = (file: string, path: string) =>
    run("mount", ["-o", "loop,commit=3600", file, path]);

  /**
   * Copies the disk as it would be after a power failure now, mounts the copy, and unmounts it after `use`. Data that is
   * only in the cache of the operating system is not on the copy.
   */
  async function losePower<T>(use: (path: string) => Promise<T>): Promise<T> {
    const copy = join(parent, "copy.img");
    await copyFile(image, copy);
    await mount(copy, copyDirectory);
    try {
      return await use(copyDirectory);
    } finally {
      await unmount(copyDirectory);
      await rm(copy);
    }
  }

  try {
    await mkdir(directory);
    await mkdir(copyDirectory);
    await run("truncate", ["--size", "256M", image]);
    await run("mkfs.ext4", ["-q", image]);
    await mount(image, directory);
  } catch (error) {
    await rm(parent, { recursive: true });
    throw error;
  }
  return {
    directory,
    losePower,
    /** Unmounts and removes the disk. */
    async close() {
      await unmount(directory);
      await rm(parent, { recursive: true });
    },
  };
}
