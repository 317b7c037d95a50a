/** "Add an error number" of CONTRIBUTING, followed on a copy of the sources: the compiler and the tests name what is missing. */
import { expect, it } from "vitest";
import { run } from "../helpers/run.ts";
import { apply, compile, createCopy, type Edit } from "../helpers/source-copy.ts";

const table = "src/core/errors.ts";

const row: Edit = [
  table,
  '    remedy: "Choose another id, or start the server with --on-conflict replace.",\n  },\n',
  `  /** 40901: the plant is locked. */
  plantLocked: {
    error: 40901,
    when: "the plant is locked",
    next: "conflict",
    only: ["create"],
    remedy: "Choose another id.",
  },
`,
];

/** What the compiler asks for. */
const compiled: readonly Edit[] = [
  ["test/cli/command-failure.test.ts", "    idTaken: 5,\n", "    plantLocked: 5,\n"],
  [
    "test/conformance/error-requests.ts",
    'which was not changed: choose another id",\n  }),\n',
    '  plantLocked: { untestable: "no plant can be locked" },\n',
  ],
];

/** What the tests ask for. */
const tested: readonly Edit[] = [
  ["test/core/errors.test.ts", "  idTaken: 40900,\n", "  plantLocked: 40901,\n"],
  [
    "src/manual/errors.md",
    "| 40900 | id belongs to a different plant                        |\n",
    "| 40901 | the plant is locked                                    |\n",
  ],
];

/** Runs tests of a copy. @returns the files that fail */
async function runTests(directory: string, files: readonly string[]): Promise<string[]> {
  const args = ["vitest", "run", "--config", "test/vitest.config.ts", "--project", "plantstore"];
  const failed = (output: string): string[] => [
    ...new Set(Array.from(output.matchAll(/FAIL +\S+ +(\S+)/g), ([, file = ""]) => file)),
  ];
  const env = { ...process.env, NO_COLOR: "1" };
  const { stdout, stderr } = await run("npx", [...args, ...files], { cwd: directory, env }).catch(
    (error: unknown) => error as { readonly stdout: string; readonly stderr: string },
  );
  expect(stdout).toContain("Test Files");
  return failed(stdout + stderr).toSorted();
}

it("a row of the table makes the compiler and the tests name the other files of an error number", async () => {
  const folders = ["src", "test", "bin", ".build", ".github"];
  const files = [".containerfile", ".pnpmfile.cjs", "package-lock.json", "README.md", "LICENSE"];
  const directory = await createCopy([...folders, ...files]);
  await apply(directory, [row]);
  expect(await compile(directory)).toEqual(compiled.map(([file]) => file));
  await apply(directory, compiled);
  expect(await compile(directory)).toEqual([]);

  const tests = ["test/core/errors.test.ts", "test/architecture/manual.test.ts"];
  expect(await runTests(directory, tests)).toEqual(tests.toSorted());
  await apply(directory, tested);
  expect(await runTests(directory, tests)).toEqual([]);
}, 400_000);

it("a further step makes the compiler name the retries, the exit codes and the level in the log", async () => {
  const directory = await createCopy(["src"]);
  await apply(directory, [[table, '  | "later"\n', '  | "wait"\n']]);
  expect(await compile(directory)).toEqual(["src/client/results.ts", "src/server/log.ts"]);
}, 120_000);
