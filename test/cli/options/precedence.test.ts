/** The precedence of the sources of a value, as one table. That of the place is in place.test.ts. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { saveCredential } from "../../helpers/credentials.ts";
import type { Io } from "../../../src/cli/io.ts";
import { requestOptions } from "../../../src/cli/options/remote.ts";
import { storeOption } from "../../../src/cli/options/local.ts";
import { readOptions } from "../../../src/cli/options/values.ts";
import { findToken } from "../../../src/cli/config/token-source.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

/** Sources of values, which a test sets. */
interface World {
  readonly directory: string;
  readonly flags: { timeoutMs?: string; store?: string; tokenFile?: string };
  readonly env: Record<string, string>;
}

type Source = readonly [name: string, set: (world: World) => Promise<void> | void];

const anUrl = "http://127.0.0.1:9";
const byFlag = (flag: keyof World["flags"], value: string): Source => [
  `--${flag}`,
  ({ flags }) => void (flags[flag] = value),
];
const byVariable = (variable: string, value: string): Source => [
  variable,
  ({ env }) => void (env[variable] = value),
];
const byDefault: Source = ["the default", () => undefined];

const toIo = ({ directory, env }: World): Io => {
  const io: Partial<Io> = { env, platform: "linux", homeDirectory: directory };
  return io as Io;
};

const configDirectory = (world: World): string => join(world.directory, ".config/plantstore");

/** Values with their sources, strongest first, and the value of each source. */
const table: readonly {
  readonly what: string;
  readonly sources: readonly (readonly [source: Source, value: unknown])[];
  readonly find: (world: World) => unknown;
}[] = [
  {
    what: "the timeout of an attempt",
    sources: [
      [byFlag("timeoutMs", "1"), 1000],
      [byVariable("PLANTSTORE_TIMEOUT", "2"), 2000],
      [byDefault, 10_000],
    ],
    find: (world) => readOptions(requestOptions, world.flags, toIo(world)).timeoutMs,
  },
  {
    what: "the store",
    sources: [
      [byFlag("store", "sqlite:flag"), "sqlite:flag"],
      [byVariable("PLANTSTORE_STORE", "sqlite:/variable"), "sqlite:/variable"],
      [byVariable("PLANTSTORE_DATA_DIR", "/data"), "sqlite:/data/plants.db"],
      [byVariable("XDG_DATA_HOME", "/xdg"), "sqlite:/xdg/plantstore/plants.db"],
    ],
    find: (world) => readOptions(storeOption, world.flags, toIo(world)).store,
  },
  {
    what: "the token",
    sources: [
      [
        [
          "--token-file",
          async (world) => {
            world.flags.tokenFile = join(world.directory, "flag");
            await writeFile(world.flags.tokenFile, "of-the-flag");
          },
        ],
        "of-the-flag",
      ],
      [byVariable("PLANTSTORE_TOKEN", "of-the-variable"), "of-the-variable"],
      [
        [
          "PLANTSTORE_TOKEN_FILE",
          async (world) => {
            world.env["PLANTSTORE_TOKEN_FILE"] = join(world.directory, "variable");
            await writeFile(world.env["PLANTSTORE_TOKEN_FILE"], "of-the-file");
          },
        ],
        "of-the-file",
      ],
      [
        [
          "the saved token",
          (world) => saveCredential(configDirectory(world), { origin: anUrl, token: "saved" }),
        ],
        "saved",
      ],
    ],
    find: async (world) => {
      const { signal } = new AbortController();
      return (await findToken(world.flags.tokenFile, anUrl, toIo(world), signal)).token;
    },
  },
];

const rows = table.flatMap(({ what, sources, find }) =>
  sources.map(([[name], value], index) => {
    const weaker = sources.slice(index + 1).map(([[weakerName]]) => weakerName);
    const present = sources.slice(index).map(([[, set]]) => set);
    return { what, name, value, over: weaker.join(", ") || "nothing", present, find };
  }),
);

it.each(rows)("$what: $name wins over $over", async ({ value, present, find }) => {
  const world: World = { directory: await createTemporaryDirectory(), flags: {}, env: {} };
  await mkdir(configDirectory(world), { recursive: true });
  for (const set of present) await set(world);
  expect(await find(world)).toBe(value);
});
