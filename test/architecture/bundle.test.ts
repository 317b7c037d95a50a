/** Contents of dist: each entry loads only what it needs, and no other package has to be installed. */
import { cp, readdir, readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { root, run } from "../helpers/run.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

/** The parts of esbuild's metafile that the tests read (https://esbuild.github.io/api/#metafile). */
interface Metafile {
  readonly outputs: Readonly<Record<string, Output>>;
}

interface Output {
  /** The source that is loaded by its name, from outside or with import(). */
  readonly entryPoint?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly imports: readonly Import[];
}

interface Import {
  readonly path: string;
  readonly kind: string;
  /** Not bundled. */
  readonly external?: boolean;
}

const metafile = await readFile(join(root, "dist/metafile-esm.json"), "utf8");
const { outputs } = JSON.parse(metafile) as Metafile;

/** Returns the files in dist that Node reads before the first line of a source runs. */
function loadedWith(source: string): readonly Output[] {
  const entry = Object.values(outputs).find(({ entryPoint }) => entryPoint === source);
  if (entry === undefined) throw new Error(`dist has no file for ${source}`);
  const loaded = new Set([entry]);
  for (const { imports } of loaded) {
    for (const { path, kind } of imports) {
      const output = outputs[path];
      if (output !== undefined && kind !== "dynamic-import") loaded.add(output);
    }
  }
  return [...loaded];
}

/** Returns the packages that the files contain code of. */
function packagesIn(files: readonly Output[]): Set<string> {
  const sources = files.flatMap(({ inputs }) => Object.keys(inputs));
  const matches = sources.map((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source));
  return new Set(matches.flatMap((match) => match?.[1] ?? []));
}

describe("loads only the packages it needs", () => {
  it.each([
    // string-width alone takes as long as Node to start.
    ["src/cli/main.ts", ["commander"]],
    ["src/cli/commands/serve/serve.ts", ["zod"]],
    ["src/cli/commands/create/create-one.ts", ["zod"]],
    // conf is loaded when a file is written.
    ["src/cli/commands/login.ts", ["zod"]],
    ["src/cli/commands/create/create-many.ts", ["zod"]],
    // A single plant is sent without it.
    ["src/client/create-plants.ts", ["zod"]],
    ["src/client/http-pool.ts", ["undici"]],
    ["src/index.ts", ["zod"]],
    ["src/store/sqlite/engine.ts", []],
    ["src/store/sqlite/worker.ts", []],
  ])("%s: %j", (source, packages) => {
    expect(packagesIn(loadedWith(source))).toEqual(new Set(packages));
  });

  it.each([
    "src/cli/commands/serve/serve.ts",
    "src/cli/commands/create/create-one.ts",
    "src/index.ts",
  ])("%s: no interface description and no page", (source) => {
    const sources = loadedWith(source).flatMap(({ inputs }) => Object.keys(inputs));
    // The part of docs that decides whether the others are loaded.
    const isDescription = /^src\/(?:core\/openapi|server\/docs\/(?!self-description))/;
    expect(sources.filter((each) => isDescription.test(each))).toEqual([]);
  });

  it.each(["src/cli/main.ts", "src/cli/commands/create/create-one.ts"])(
    "%s: no digests, no compression and no HTTP of Node before they are used",
    (source) => {
      const imports = loadedWith(source).flatMap((output) => output.imports);
      const paths = new Set(imports.map(({ path }) => path));
      const slow = ["node:crypto", "node:http", "node:https", "node:tls", "node:zlib"];
      expect(slow.filter((path) => paths.has(path))).toEqual([]);
    },
  );

  it("src/client.ts: neither the store nor the server, also later", () => {
    const files = new Set(loadedWith("src/client.ts"));
    for (const { imports } of files) {
      for (const { path } of imports) {
        const output = outputs[path];
        if (output !== undefined) files.add(output);
      }
    }
    const sources = [...files].flatMap(({ inputs }) => Object.keys(inputs));
    expect(sources.filter((each) => /^src\/(?:store|server|cli|records)\//.test(each))).toEqual([]);
    expect(packagesIn(loadedWith("src/client.ts"))).toEqual(new Set(["zod"]));
  });

  it("src/index.ts: no code of the command line", () => {
    const sources = loadedWith("src/index.ts").flatMap(({ inputs }) => Object.keys(inputs));
    expect(sources.filter((source) => source.startsWith("src/cli/"))).toEqual([]);
  });
});

describe("the client for browsers", () => {
  it("is one file that imports nothing, of at most 60 kB", async () => {
    const browserMetafile = await readFile(join(root, "dist/browser/metafile-esm.json"), "utf8");
    const built = JSON.parse(browserMetafile) as Metafile;
    expect(Object.values(built.outputs).flatMap((output) => output.imports)).toEqual([]);
    const code = await readFile(join(root, "dist/browser/client.js"), "utf8");
    expect(code).not.toMatch(/\b(?:node:|Buffer\.|process\.|getBuiltinModule)/);
    expect(Buffer.byteLength(code)).toBeLessThanOrEqual(60_000);
    expect(await readdir(join(root, "dist/browser"))).toEqual(["client.js", "metafile-esm.json"]);
  });

  it.each(["delete globalThis.fetch", "globalThis.fetch = undefined"])(
    "says that the global fetch is missing after %s",
    async (change) => {
      const file = pathToFileURL(join(root, "dist/browser/client.js")).href;
      const program = `
      ${change};
      const { createClient } = await import(${JSON.stringify(file)});
      const client = createClient({ url: "http://127.0.0.1:1", token: "secret" });
      const plant = { id: 1n, name: "fern" };
      await client.create(plant).catch((error) => console.log(String(error)));
      await client.createMany([plant]).next().catch((error) => console.log(String(error)));`;
      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program]);
      const message = "TypeError: the global fetch is missing: pass a function like it as fetch\n";
      expect(stdout).toBe(message.repeat(2));
    },
  );

  it("exports the same as the client for Node", async () => {
    const [forBrowsers, forNode] = await Promise.all(
      ["dist/browser/client.js", "dist/client.js"].map(
        (path) => import(pathToFileURL(join(root, path)).href) as Promise<object>,
      ),
    );
    expect(Object.keys(forBrowsers ?? {}).toSorted()).toEqual(
      Object.keys(forNode ?? {}).toSorted(),
    );
    expect(Object.keys(forNode ?? {})).toContain("createClient");
  });
});

describe("the built package", () => {
  it("imports only Node's modules, its own files and the packages of SQLite and pg", () => {
    const imports = Object.values(outputs).flatMap((output) => output.imports);
    const external = imports.filter((each) => each.external).map(({ path }) => path);
    const packages = external.filter((path) => !path.startsWith("node:") && !isBuiltin(path));
    // pg loads its native driver only on request.
    expect(new Set(packages)).toEqual(new Set(["@photostructure/sqlite", "pg-native"]));
  });

  it("has types that import only Node's modules, and each other", async () => {
    const names = (await readdir(join(root, "dist"))).filter((name) => name.endsWith(".d.ts"));
    expect(names).toEqual(expect.arrayContaining(["client.d.ts", "index.d.ts"]));
    const texts = await Promise.all(
      names.map((name) => readFile(join(root, "dist", name), "utf8")),
    );
    const imports = texts.join("\n").matchAll(/\b(?:from|import\()\s*["']([^"']+)["']/g);
    const paths = Array.from(imports, ([, path = ""]) => path);
    expect(paths.filter((path) => !isBuiltin(path) && !path.startsWith("./"))).toEqual([]);
  });

  it("has files that Node can load in an empty directory", async () => {
    const directory = await createTemporaryDirectory();
    for (const name of ["bin", "dist", "package.json"]) {
      await cp(join(root, name), join(directory, name), { recursive: true });
    }
    const files = (await readdir(join(directory, "dist"))).filter((name) =>
      /(?<!\.browser)\.js$/.test(name),
    );
    expect(files).toContain("main.js");
    const urls = files.map((name) => pathToFileURL(join(directory, "dist", name)).href);
    const program = urls.map((url) => `await import(${JSON.stringify(url)});`).join("\n");
    for (const [args, stdout] of [
      [["--input-type=module", "--eval", program], ""],
      [[join(directory, "bin/plantstore.js"), "--version"], "plantstore 1.0.0 ("],
    ] as const) {
      const ran = await run(process.execPath, args);
      expect(ran).toEqual({ stdout: expect.stringContaining(stdout) as string, stderr: "" });
    }
  });
});
