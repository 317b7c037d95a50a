/** A full disk rejects only the creates that do not fit, and the store works again when there is room. */
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { run } from "../../helpers/run.ts";
import { canMountSmallDisks, openSmallDisk, resizeDisk } from "../../helpers/small-disk.ts";
import { bundleProgram, start } from "./programs.ts";
import { createPath } from "./stores.ts";

/** A process on a full disk. */
interface FullProcess {
  readonly child: ReturnType<typeof start>;
  makeRoom(): Promise<unknown>;
}

/** Starts a process on a disk of 4 MB in memory. */
async function startOnDisk(program: string): Promise<FullProcess> {
  const disk = await openSmallDisk(4);
  const child = start(process.execPath, [program, join(disk, "plants.db")]);
  return { child, makeRoom: () => resizeDisk(disk, 64) };
}

/** Starts a process whose files may have at most 1 MB. */
async function startWithLimit(program: string): Promise<FullProcess> {
  const path = await createPath();
  const limited = 'ulimit -S -f 2048 && exec "$@"';
  const child = start("sh", ["-c", limited, "sh", process.execPath, program, path]);
  return {
    child,
    makeRoom: () => run("prlimit", ["--pid", `${child.pid}`, "--fsize=unlimited"]),
  };
}

const kinds: [name: string, begin: (program: string) => Promise<FullProcess>][] = [];
const hasPrlimit = await run("prlimit", ["--version"]).then(
  () => true,
  () => false,
);
if (hasPrlimit) kinds.push(["a limit on files", startWithLimit]);
if (await canMountSmallDisks()) kinds.push(["a full disk", startOnDisk]);

describe("a store without room", () => {
  it.each(kinds)(
    "lacks exactly the rejected plants because of %s, and stores them once there is room",
    async (_, begin) => {
      const { child, makeRoom } = await begin(await bundleProgram("create-until-full"));
      const closed = once(child, "close");
      const stderr = text(child.stderr!);
      const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
      expect(await lines.next()).toMatchObject({ value: "full: 0 missing, 0 there" });
      await makeRoom();
      child.stdin!.write("\n");
      expect(await lines.next()).toMatchObject({ value: "created" });
      expect([await closed, await stderr]).toEqual([[0, null], ""]);
    },
  );
});
