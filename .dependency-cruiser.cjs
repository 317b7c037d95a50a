/** Which part may import which. CONTRIBUTING describes the folders, each of which is a layer. */

/** Each layer, with the layers that it may import beside itself. */
const layers = {
  core: [],
  auth: ["core"],
  store: ["core"],
  records: ["core"],
  client: ["core"],
  server: ["core", "auth"],
  library: ["core", "auth", "store", "records", "client", "server"],
  cli: ["core", "auth", "store", "records", "client", "server", "library"],
};

/** The packages that src may import, each with the only place for it. A test finds places without files. */
const packages = {
  "@photostructure/sqlite": "^src/store/sqlite/",
  chalk: "^src/cli/terminal/",
  commander: "^src/cli/program[.]ts$",
  // Loads ajv: only for writing.
  conf: "^src/cli/config/saved-settings[.]ts$",
  ora: "^src/cli/terminal/",
  pg: "^src/store/postgres/",
  pgpass: "^src/store/postgres/",
  "string-width": "^src/cli/terminal/",
  "prom-client": "^src/server/metrics[.]ts$",
  undici: "^src/client/http-pool[.]ts$",
  // A sixth of `zod`, and as much less to load for each command.
  "zod/mini": "^src/core/",
};

/** @param {string} name */
const toModulePath = (name) => `(^|/)node_modules/${name}/`;

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...Object.entries(layers).map(([layer, others]) => ({
      name: `layer-${layer}`,
      comment: `${layer} imports of src only ${[layer, ...others].join(", ")}`,
      severity: /** @type {const} */ ("error"),
      from: { path: `^src/${layer}/` },
      to: { path: "^src/", pathNot: `^src/(${[layer, ...others].join("|")})/` },
    })),
    ...Object.entries(packages).map(([name, place]) => ({
      name: `package-${name}`,
      comment: `${name} is imported only in ${place}`,
      severity: /** @type {const} */ ("error"),
      from: { path: "^(src|bin)/", pathNot: place },
      to: { path: toModulePath(name) },
    })),
    {
      name: "package-unknown",
      comment: "src and bin import no other package, and nothing that cannot be found",
      severity: "error",
      from: { path: "^(src|bin)/" },
      to: {
        dependencyTypesNot: ["local", "core"],
        pathNot: [...Object.keys(packages).map(toModulePath), "^node:sqlite$"],
      },
    },
    {
      name: "sqlite-of-node",
      comment: "node:sqlite is imported only in src/store/sqlite",
      severity: "error",
      from: { path: "^(src|bin)/", pathNot: "^src/store/sqlite/" },
      to: { path: "^(node:)?sqlite$" },
    },
    {
      name: "engine-in-its-folder",
      comment: "the rest of src knows an engine by what store-url.ts and open-store.ts say of it",
      severity: "error",
      // The library checks whether a bundler left the script of a thread behind.
      from: {
        path: "^src/",
        pathNot: "^src/store/([^/]+/|(store-url|open-store)[.]ts$)",
      },
      to: {
        path: "^src/store/[^/]+/",
        pathNot: "^src/store/sqlite/worker-script[.]ts$",
      },
    },
    {
      name: "core-without-node",
      comment: "core imports nothing of node, types included",
      severity: "error",
      from: { path: "^src/core/" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "index-is-the-door",
      comment: "src/index.ts and src/client.ts are for other programs",
      severity: "error",
      from: { path: "^(src|bin)/", pathNot: "^src/index[.]ts$" },
      to: { path: "^src/(index|client)[.]ts$" },
    },
    {
      name: "src-without-tests",
      comment: "src and bin import nothing of test",
      severity: "error",
      from: { path: "^(src|bin)/" },
      to: { path: "^test/" },
    },
    {
      name: "no-cycles",
      comment: "import() and import type counted",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-orphans",
      comment: "a file that nothing imports, and that imports nothing, is not used",
      severity: "error",
      from: {
        orphan: true,
        // vitest loads a set-up file by its path.
        pathNot: [
          "[.]test[.]ts$",
          "[.]d[.]ts$",
          "[.]browser[.][jt]s$",
          "^bin/",
          "^test/helpers/dispose-symbols[.]ts$",
        ],
      },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: ["node_modules", "^dist/"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node", "default"],
    },
  },
};
