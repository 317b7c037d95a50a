/** How the command, the library and the worker of the SQLite store are bundled. */
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { transform } from "sucrase";
import { defineConfig, type Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];
type OutputPlugin = NonNullable<Options["plugins"]>[number];

const main = resolve("src/cli/main.ts");

/**
 * What every command loads at its start is in one file, with this. A file that only some commands share would otherwise
 * be a chunk of its own: 21 of them were read for each command, and took 5 ms.
 */
const oneStart: Plugin = {
  name: "one-start",
  setup(build) {
    const loadedLater = new Set<string>();
    build.onResolve(
      { filter: /^[.]/ },
      async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (kind !== "dynamic-import" || pluginData === oneStart) return undefined;
        const found = await build.resolve(path, {
          kind,
          importer,
          resolveDir,
          pluginData: oneStart,
        });
        loadedLater.add(found.path);
        return found;
      },
    );
    build.onLoad({ filter: /[/\\]src[/\\]cli[/\\].*[.]ts$/ }, async ({ path }) => {
      if (!loadedLater.has(path)) return undefined;
      const text = await readFile(path, "utf8");
      // It has been loaded by then; the import only tells the bundler so.
      return { contents: `${text}\nimport ${JSON.stringify(main)};\n`, loader: "ts" };
    });
  },
};

/**
 * Parts of Node that packages load for what plantstore does not do: commander's commands that are programs of their own,
 * and in undici HTTP/2, bodies of fetch and of node:http, and assertions that hold. They took 15 % of the time of a
 * `create`.
 */
const leftOut: Plugin = {
  name: "left-out",
  setup(build) {
    const parts = [
      { part: /^node:child_process$/, of: /[/\\]commander[/\\]/, contents: "module.exports = {};" },
      {
        part: /^[.][/]client-h2[.]js$|^[.][.][/]web[/]fetch[/]body[.]js$/,
        of: /[/\\]undici[/\\]/,
        contents: "module.exports = {};",
      },
      // Of node:http undici needs only the limit for the head of an answer, which few give to Node.
      {
        part: /^node:http$/,
        of: /[/\\]undici[/\\]/,
        contents: `
          const flags = [...process.execArgv, process.env.NODE_OPTIONS].join(" ");
          module.exports = /max.http.header.size/.test(flags) ? require("node:http") : { maxHeaderSize: 16384 };`,
      },
      {
        part: /^node:assert$/,
        of: /[/\\]undici[/\\]/,
        contents:
          'module.exports = (value, message) => { if (!value) require("node:assert")(value, message); };',
      },
    ];
    for (const { part, of, contents } of parts) {
      build.onResolve({ filter: part }, ({ path, importer }) =>
        of.test(importer) ? { path, namespace: "left-out", pluginData: contents } : undefined,
      );
    }
    build.onLoad({ filter: /./, namespace: "left-out" }, ({ pluginData }) => ({
      contents: pluginData as string,
    }));
  },
};

/**
 * Files that require each other in place of ES modules, which Node finds and reads through promises: a create takes a
 * tenth less time, and serve is ready a seventh earlier. tsup's own way to them rewrites `?.` and `??` too.
 */
const commonJs: OutputPlugin = {
  name: "common-js",
  renderChunk(text) {
    return transform(text, { transforms: ["imports"], disableESTransforms: true });
  },
  async buildEnd() {
    await writeFile("dist/package.json", '{"type":"commonjs"}\n');
  },
};

export default defineConfig({
  entry: {
    start: "src/cli/start.ts",
    index: "src/index.ts",
    "sqlite-worker": "src/store/sqlite/worker.ts",
  },
  format: "esm",
  target: "node20",
  splitting: true,
  clean: true,
  metafile: true,
  define: { "import.meta.dirname": "__dirname" },
  removeNodeProtocol: false,
  external: ["@photostructure/sqlite"],
  dts: { entry: { index: "src/index.ts" } },
  esbuildPlugins: [oneStart, leftOut],
  plugins: [commonJs],
});
