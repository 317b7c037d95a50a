/** Bundles the command, the library and the thread of the SQLite store. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Options } from "tsup";

/** The version is all that plantstore reads of its package.json: every command would load the rest. */
const versionOnly: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "version-only",
  setup(build) {
    build.onLoad({ filter: /[\\/]package\.json$/ }, ({ path }) => {
      const { version } = JSON.parse(readFileSync(path, "utf8")) as { version: string };
      return { contents: JSON.stringify({ version }), loader: "json" };
    });
  },
};

export const options: Options = {
  entry: {
    main: "src/cli/main.ts",
    index: "src/index.ts",
    client: "src/client.ts",
    "sqlite-worker": "src/store/sqlite/worker.ts",
    page: "src/server/docs/page.html",
    // Also dist/page: esbuild adds the extension, and keys must differ.
    "./page": "src/server/docs/page.css",
    "page.browser": "src/server/docs/page.browser.js",
    plants: "src/server/docs/plants.html",
    "plants.browser": "src/server/docs/plants.browser.js",
  },
  format: "esm",
  target: "node20",
  splitting: true,
  clean: true,
  metafile: true,
  removeNodeProtocol: false,
  external: ["@photostructure/sqlite"],
  loader: { ".html": "copy", ".css": "copy", ".browser.js": "copy" },
  // commander, pg and undici are CommonJS, and require modules of Node.
  banner: { js: "const require = process.getBuiltinModule;" },
  // undici asks for its type. webpack would leave it in an ES module, which has none.
  define: { __filename: "undefined" },
  esbuildPlugins: [versionOnly],
  dts: { entry: { index: "src/index.ts", client: "src/client.ts" } },
};

/** The client for browsers: one file, without Node. `NAME.browser.ts` takes the place of `NAME.ts`. */
export const browserOptions: Options = {
  entry: { client: "src/client.ts" },
  format: "esm",
  platform: "browser",
  target: "es2022",
  splitting: false,
  minify: true,
  metafile: true,
  esbuildPlugins: [
    versionOnly,
    {
      name: "browser-files",
      setup(build) {
        build.onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir }) => {
          const replacement = resolve(resolveDir, path.replace(/\.ts$/, ".browser.ts"));
          return existsSync(replacement) ? { path: replacement } : undefined;
        });
      },
    },
  ],
};
