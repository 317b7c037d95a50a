/** How the command, the library and the worker of the SQLite store are bundled. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { defineConfig, type Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const main = resolve("src/cli/main.ts");

/**
 * What a command loads at its start is in one file, with this. A file that only some commands share would otherwise be
 * a chunk of its own: 21 of them were read for `--version`, and took a tenth of its time.
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
 * and HTTP/2 in undici. They took 5 % of the time of `--version`, and 10 % of that of a `create`.
 */
const leftOut: Plugin = {
  name: "left-out",
  setup(build) {
    const parts = [
      { part: /^node:child_process$/, of: /[/\\]commander[/\\]/ },
      { part: /^[.][/]client-h2[.]js$/, of: /[/\\]undici[/\\]/ },
    ];
    for (const { part, of } of parts) {
      build.onResolve({ filter: part }, ({ path, importer }) =>
        of.test(importer) ? { path, namespace: "left-out" } : undefined,
      );
    }
    build.onLoad({ filter: /./, namespace: "left-out" }, () => ({
      contents: "module.exports = {};",
    }));
  },
};

export default defineConfig({
  entry: { cli: main, index: "src/index.ts", "sqlite-worker": "src/store/sqlite/worker.ts" },
  format: "esm",
  target: "node20",
  splitting: true,
  clean: true,
  metafile: true,
  removeNodeProtocol: false,
  external: ["@photostructure/sqlite"],
  dts: { entry: { index: "src/index.ts" } },
  // For the packages that are CommonJS, and require what is part of Node.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  esbuildPlugins: [oneStart, leftOut],
});
