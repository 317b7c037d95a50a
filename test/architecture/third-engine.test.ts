/** A copy of the sources with another engine in the list works with that engine: no other code knows an engine by its name. */
import { chmod, cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type * as mainModule from "../../src/cli/main.ts";
import { runCli, startServe } from "../helpers/run-cli.ts";
import { root } from "../helpers/run.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";
import { describeStoreContract } from "../store/store-contract.ts";
import { duckType } from "./programs/duck-engine.ts";

const plants = ['{"id":1,"name":"fern"}', '{"id":9223372036854775807,"name":"moss","tag":"pot"}'];
const token = "a-token-of-the-operator";

const ends: (() => Promise<void>)[] = [];
let program: (typeof mainModule)["main"];

/** Copies the sources, with a list of engines that has the duck instead of SQLite and PostgreSQL. */
beforeAll(async () => {
  const copy = await createTemporaryDirectory((end) => void ends.push(end));
  await cp(join(root, "src"), join(copy, "src"), { recursive: true });
  for (const file of ["package.json", "tsconfig.json"]) {
    await cp(join(root, file), join(copy, file));
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));

  const folder = join(copy, "src/store/duck");
  await mkdir(folder);
  const engine = await readFile(join(root, "test/architecture/programs/duck-engine.ts"), "utf8");
  await writeFile(join(folder, "location.ts"), engine.replaceAll("../../../src/", "../../"));
  const list = join(copy, "src/store/store-url.ts");
  const changed = (await readFile(list, "utf8"))
    .replace("sqliteType, postgresType, memoryType", "duckType, memoryType")
    .replace("import { sqliteType", 'import { duckType } from "./duck/location.ts";\n// $&');
  if (!changed.includes("[duckType, memoryType]")) throw new Error("the list has another form");
  await writeFile(list, changed);
  ({ main: program } = (await import(join(copy, "src/cli/main.ts"))) as typeof mainModule);
  return async () => {
    for (const end of ends) await end();
  };
}, 60_000);

describeStoreContract("duck", async (onEnd) => {
  const directory = await createTemporaryDirectory(onEnd);
  return duckType.locate(`duck:${join(directory, "plants.db")}`).openEngine({});
});

describe("an engine that is added to the list", () => {
  async function open() {
    const directory = await createTemporaryDirectory();
    const env = {
      PLANTSTORE_CONFIG_DIR: join(directory, "config"),
      PLANTSTORE_DATA_DIR: join(directory, "data"),
      PLANTSTORE_TOKEN: token,
    };
    const run = (args: readonly string[], stdin = "") =>
      runCli(args, { program, env, stdin, isPiped: true });
    return { directory, env, run, store: join(directory, "data/plants.db") };
  }

  it("has the default store, which all commands use", async () => {
    const { directory, env, run, store } = await open();
    const server = await startServe([], { program, env });
    await server.saw(`duck:${store}`);
    const created = await run(["create", "--many", "--url", server.url, "-"], plants.join("\n"));
    expect(created).toMatchObject({ exitCode: 0 });
    expect((await run(["export"])).stdout).toBe(`${plants.join("\n")}\n`);
    expect((await run(["list", "--count", "--store", store])).stdout).toBe("2\n");
    expect((await run(["get", "1", "--store", `duck:${store}`])).exitCode).toBe(0);
    expect((await run(["delete", "1", "--yes"])).stderr).toContain(`duck:${store}`);
    expect((await run(["get", "1"])).exitCode).toBe(9);
    expect((await run(["token", "issue", "--name", "ci"])).exitCode).toBe(0);
    expect((await run(["token", "list"])).stdout).toContain('"name":"ci"');
    expect((await run(["status"])).stdout).toContain(`duck:${store}`);

    const backup = join(directory, "plants.backup");
    expect(await run(["backup", backup])).toMatchObject({ exitCode: 0 });
    expect(await run(["verify", backup])).toMatchObject({ exitCode: 0 });
    expect(await run(["restore", `duck:${backup}`])).toMatchObject({ exitCode: 0 });
  });

  it("names the files whose access is checked", async () => {
    const { env, run, store } = await open();
    const server = await startServe([], { program, env });
    await writeFile(`${store}.feather`, "");
    await chmod(`${store}.feather`, 0o666);
    expect((await run(["status"])).stdout).toContain(`${store}.feather can be read and changed`);
    await server.stop();
  });

  it("appears in help and in messages, and the removed ones do not", async () => {
    const { run } = await open();
    for (const command of ["serve", "list", "backup", "restore"]) {
      expect((await run([command, "--help"])).stdout).toContain("duck:PATH");
    }
    const { exitCode, stderr } = await run(["list", "--store", "sqlite:plants.db"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      'unknown store type "sqlite:": use duck:PATH (a duck) or memory: (kept until the server ends)',
    );
  });
});
