/** `plantstore explain`: of every error number, what it says is what the code does. */
import { describe, expect, it } from "vitest";
import { toExitCode } from "../../../src/cli/command-failure.ts";
import { errorKinds, errorTable } from "../../../src/core/errors.ts";
import { runCli } from "../../helpers/run-cli.ts";

describe("explain", () => {
  it.each(["40900", "idTaken", "IDTAKEN"])("%s says all of it", async (asked) => {
    expect(await runCli(["explain", asked])).toPrint(`\
40900 idTaken: id belongs to a different plant

Status:     400, or 409 with serve --status-mode http
What to do: Choose another id, or start the server with --on-conflict replace.
Exit code:  5, of "plantstore create"
`);
  });

  it.each(["noCredential", "unknownToken", "expiredToken"])("%s names the login", async (kind) => {
    const { stdout } = await runCli(["explain", kind]);
    expect(stdout).toContain(
      "\nWhat to do: Log in:\n              plantstore login\n            In a program: ",
    );
  });

  it.each(errorKinds)("%s has its number, its sentence and its exit code", async (kind) => {
    const { exitCode, stdout } = await runCli(["explain", kind]);
    expect(exitCode).toBe(0);
    const { error, when } = errorTable[kind];
    expect(stdout.split("\n")[0]).toBe(`${error} ${kind}: ${when}`);
    const usual = Math.trunc(error / 100);
    // A plant that does not exist is a failure of an operation.
    const isSame = kind !== "noSuchPlant" && [400, 404, 405].includes(usual);
    const shown = isSame ? `${usual}\n` : `400, or ${usual} with serve`;
    expect(stdout).toContain(`\nStatus:     ${shown}`);
    expect(stdout).toContain(`\nExit code:  ${toExitCode(error)}, `);
    for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(100);
  });

  it("alone lists all of them, in order", async () => {
    const { exitCode, stdout } = await runCli(["explain"]);
    expect(exitCode).toBe(0);
    const listed = stdout.trimEnd().split("\n");
    expect(listed.map((line) => line.split(/ {2,}/))).toEqual(
      errorKinds.map((kind) => {
        const { error, when } = errorTable[kind];
        return [String(error), kind, `${when} (exit code ${toExitCode(error)})`];
      }),
    );
  });

  it("explains several errors, each once, and every number that begins with digits", async () => {
    const { stdout } = await runCli(["explain", "409", "idTaken", "41300"]);
    expect(stdout.match(/^\d{5} \w+/gm)).toEqual(["40900 idTaken", "41300 bodyTooLarge"]);
    for (const digits of ["401", "4"]) {
      const { stdout: found } = await runCli(["explain", digits]);
      const expected = errorKinds.filter((kind) => `${errorTable[kind].error}`.startsWith(digits));
      expect(found.match(/(?<=^\d{5} )\w+/gm)).toEqual(expected);
    }
  });

  it.each(["nothing", "", "toString", "40901"])(
    "rejects %j, which names no error",
    async (asked) => {
      const problem = `error: unknown error "${asked}"\nList all errors:\n  plantstore explain\n`;
      expect(await runCli(["explain", asked])).toExit(2, problem);
    },
  );
});

it("--json prints one line of JSON for each error", async () => {
  const { stdout } = await runCli(["explain", "40900", "--json"]);
  const expected = { error: 40900, name: "idTaken", exitCode: 5 };
  expect(JSON.parse(stdout)).toMatchObject(expected);
  const all = await runCli(["explain", "--json"]);
  expect(all.stdout.split("\n").filter((line) => line.includes('"name":"idTaken"'))).toHaveLength(
    1,
  );
});
