/** The precedence of the sources of a value, as one table. That of the place is in place.test.ts, that of the token in create/token.test.ts. */
import { expect, it } from "vitest";
import type { Io } from "../../../src/cli/io.ts";
import { requestOptions } from "../../../src/cli/options/remote.ts";
import { storeOption } from "../../../src/cli/options/local.ts";
import { readOptions } from "../../../src/cli/options/values.ts";

/** Sources of values, which a test sets. */
interface World {
  readonly flags: { timeoutMs?: string; store?: string };
  readonly env: Record<string, string>;
}

type Source = readonly [name: string, set: (world: World) => void];

const byFlag = (flag: keyof World["flags"], value: string): Source => [
  `--${flag}`,
  ({ flags }) => void (flags[flag] = value),
];
const byVariable = (variable: string, value: string): Source => [
  variable,
  ({ env }) => void (env[variable] = value),
];
const byDefault: Source = ["the default", () => undefined];

const toIo = ({ env }: World): Io => {
  const io: Partial<Io> = { env, platform: "linux", homeDirectory: "/home/fern" };
  return io as Io;
};

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
];

const rows = table.flatMap(({ what, sources, find }) =>
  sources.map(([[name], value], index) => {
    const weaker = sources.slice(index + 1).map(([[weakerName]]) => weakerName);
    const present = sources.slice(index).map(([[, set]]) => set);
    return { what, name, value, over: weaker.join(", ") || "nothing", present, find };
  }),
);

it.each(rows)("$what: $name wins over $over", ({ value, present, find }) => {
  const world: World = { flags: {}, env: {} };
  for (const set of present) set(world);
  expect(find(world)).toBe(value);
});
