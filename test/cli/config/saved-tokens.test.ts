import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import {
  listSavedOrigins,
  readSavedToken,
  removeToken,
  saveCredential,
  toTokenFile,
} from "../../helpers/credentials.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

const here = "http://127.0.0.1:7526";
const there = "https://[2001:db8::1]:8443";

let directory: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
});

async function writeCredential(text: string, mode = 0o600): Promise<string> {
  const file = toTokenFile(directory, here);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await chmod(file, mode);
  return file;
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

describe("a saved token", () => {
  it("is given to its origin, and to no other", async () => {
    await saveCredential(directory, { origin: here, token: "first" });
    expect(readSavedToken(directory, here)).toBe("first");
    expect(readSavedToken(directory, "http://127.0.0.1:7527")).toBeUndefined();
    expect(readSavedToken(directory, "https://127.0.0.1:7526")).toBeUndefined();
  });

  it("is in a file of its origin alone, which others cannot read", async () => {
    directory = join(directory, "new", "config");
    await saveCredential(directory, { origin: here, token: "first" });
    const file = toTokenFile(directory, here);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ origin: here, token: "first" });
    expect(await modeOf(file)).toBe("600");
    expect(await modeOf(dirname(file))).toBe("700");
    expect(await modeOf(directory)).toBe("700");
  });

  it("takes the place of an earlier one and touches no other", async () => {
    await saveCredential(directory, { origin: here, token: "first" });
    await saveCredential(directory, { origin: there, token: "other" });
    await saveCredential(directory, { origin: here, token: "second" });
    expect(readSavedToken(directory, here)).toBe("second");
    expect(readSavedToken(directory, there)).toBe("other");
    expect(await readdir(join(directory, "credentials"))).toHaveLength(2);
  });

  it("for one origin is not lost when many are saved at once", async () => {
    const origins = Array.from({ length: 20 }, (_, index) => `http://127.0.0.1:${8000 + index}`);
    await Promise.all(
      origins.map((origin) => saveCredential(directory, { origin, token: `of ${origin}` })),
    );
    const tokens = origins.map((origin) => readSavedToken(directory, origin));
    expect(tokens).toEqual(origins.map((origin) => `of ${origin}`));
  });

  it("is absent where nothing was ever saved", async () => {
    expect(readSavedToken(directory, here)).toBeUndefined();
  });
});

describe("a token for a long origin", () => {
  // 103 bytes, the longest path of a socket.
  const toLong = (end: string): string => `unix:/${"ü".repeat(50)}${end}`;
  const long = toLong("ab");

  it("is saved, listed, read and removed like any other", async () => {
    await saveCredential(directory, { origin: long, token: "first" });
    await saveCredential(directory, { origin: toLong("cd"), token: "other" });
    await saveCredential(directory, { origin: long, token: "second" });
    await saveCredential(directory, { origin: here, token: "short" });
    expect(readSavedToken(directory, long)).toBe("second");
    expect(readSavedToken(directory, toLong("cd"))).toBe("other");
    expect(await listSavedOrigins(directory)).toEqual([here, long, toLong("cd")]);
    expect(await removeToken(directory, long)).toBe(true);
    expect(await listSavedOrigins(directory)).toEqual([here, toLong("cd")]);
  });

  it.each([
    [here, "http%3A%2F%2F127.0.0.1%3A7526.json"],
    ["unix:/run/plants.sock", "unix%3A%2Frun%2Fplants.sock.json"],
    ["unix:/run/grün 1.sock", "unix%3A%2Frun%2Fgrün%201.sock.json"],
    [long, `unix%3A%2F${"ü".repeat(50)}ab.json`],
    [`https://${"a".repeat(234)}`, `https%3A%2F%2F${"a".repeat(234)}.json`],
  ])("of %s is in a file of its name", async (origin, name) => {
    expect(basename(toTokenFile(directory, origin))).toBe(name);
    await saveCredential(directory, { origin, token: "first" });
    expect(readSavedToken(directory, origin)).toBe("first");
  });
});

describe("the origins", () => {
  it("are those of the saved tokens", async () => {
    expect(await listSavedOrigins(directory)).toEqual([]);
    await saveCredential(directory, { origin: there, token: "a" });
    await saveCredential(directory, { origin: here, token: "b" });
    expect(await listSavedOrigins(directory)).toEqual([here, there]);
  });

  it("are not the names of files that are something else", async () => {
    await saveCredential(directory, { origin: here, token: "a" });
    await writeFile(join(directory, "credentials", "README"), "");
    await writeFile(join(directory, "credentials", "%E0.json"), "");
    expect(await listSavedOrigins(directory)).toEqual([here]);
  });
});

describe("a credential file", () => {
  it.each([0o644, 0o640, 0o604, 0o660])("with mode %o is rejected with advice", async (mode) => {
    const text = JSON.stringify({ origin: here, token: "first" });
    const file = await writeCredential(text, mode);
    expect(() => readSavedToken(directory, here)).toThrow(
      `others can read the token in ${file}: consider a new one`,
    );
  });

  it.each([
    ["is truncated", '{"origin":"http://127.0.0.1:7526","tok'],
    ["is empty", ""],
    ["contains no token", '{"origin":"http://127.0.0.1:7526"}'],
    ["contains a token that is not a string", '{"origin":"http://127.0.0.1:7526","token":1}'],
    ["is not an object", "[]"],
  ])("that %s is reported, and neither used nor overwritten", async (_what, text) => {
    const file = await writeCredential(text);
    expect(() => readSavedToken(directory, here)).toThrow(`${file} is broken`);
    await expect(saveCredential(directory, { origin: here, token: "new" })).rejects.toThrow(
      `${file} is broken`,
    );
    expect(await readFile(file, "utf8")).toBe(text);
  });

  it("that was copied from another origin is not used", async () => {
    await writeCredential(JSON.stringify({ origin: there, token: "first" }));
    expect(readSavedToken(directory, here)).toBeUndefined();
  });

  it("that is a directory is reported", async () => {
    const file = toTokenFile(directory, here);
    await mkdir(file, { recursive: true, mode: 0o700 });
    expect(() => readSavedToken(directory, here)).toThrow(`${file} cannot be read`);
  });
});

it("a directory that cannot be created is reported with advice", async () => {
  // Even root cannot create a directory at a broken link.
  await symlink(join(directory, "nowhere"), join(directory, "credentials"));
  await expect(saveCredential(directory, { origin: here, token: "first" })).rejects.toThrow(
    /^the token cannot be saved in .*\/credentials \([a-z ]+\): .* PLANTSTORE_CONFIG_DIR$/,
  );
});

it("a directory in /proc is reported as one that cannot be created", async () => {
  await expect(
    saveCredential("/proc/plantstore", { origin: here, token: "first" }),
  ).rejects.toThrow(
    /^the token cannot be saved in \/proc\/plantstore\/credentials \(the path does not exist\)/,
  );
});
