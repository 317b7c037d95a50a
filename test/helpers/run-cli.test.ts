/** The matchers for the end of a run. */
import { expect, it } from "vitest";
import { containing, runCli } from "./run-cli.ts";

const result = { exitCode: 2, stdout: '{"id":1,"name":"fern"}\n', stderr: "error: no token\n" };

it.each<[what: string, ...Parameters<typeof expect.toExit>]>([
  ["another exit code", 0, /token/, /fern/],
  ["another stderr", 2, "error: no", /fern/],
  ["another part of stderr", 2, containing("moss"), /fern/],
  ["stdout, if it should be empty", 2, /token/],
  ["another line on stdout", 2, /token/, [{ id: 2 }]],
  ["more lines on stdout", 2, /token/, [{ id: 1 }, {}]],
  ["no line on stdout", 2, /token/, []],
])("toExit rejects %s, and prints both outputs", (_what, ...end) => {
  const check = (): void => expect(result).toExit(...end);
  expect(check).toThrow("exitCode: 2");
  expect(check).toThrow("stderr: 'error: no token\\n'");
  expect(check).toThrow(`stdout: '{"id":1,"name":"fern"}\\n'`);
});

it.each(["boom\n", '{"id":1}', '{"id":1}\n\n'])(
  "toExit rejects %j as lines, and prints it",
  (stdout) => {
    const check = (): void => expect({ ...result, stdout }).toExit(2, /token/, [{ id: 1 }]);
    expect(check).toThrow("stderr: 'error: no token\\n'");
  },
);

it("toExit accepts what a run printed", async () => {
  expect(result).toExit(2, /^error: /, [{ id: 1 }]);
  expect(result).toExit(2, containing("no token"), containing("fern"));
  expect(await runCli(["--version"])).toPrint(/^plantstore /);
  expect(() => expect(result).toPrint(/fern/)).toThrow("exitCode: 2");
});
