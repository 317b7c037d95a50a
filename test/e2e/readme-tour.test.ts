/** What the README shows of a session at a terminal is what a terminal shows, command by command, from an empty home. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startSession } from "../helpers/pseudo-terminal.ts";
import { startBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

/** A command, and what is shown below it. */
interface Step {
  readonly command: string;
  readonly shown: string;
}

/** Stands between the outputs of two commands, and leaves `$?` as it is. */
const mark = "@@@";
/** Also without curl the plant is there for what follows. */
const shell = `
  plantstore() { $PLANTSTORE "$@"; }
  npx() { shift; $PLANTSTORE "$@"; }
  mark() { status=$?; echo "${mark}"; return $status; }
  command -v curl >/dev/null || curl() { plantstore create --id 2 --name monstera --tag pot; }
`;

/** Of these the server and the directories are somebody else's. */
const isElsewhere = ({ command }: Step): boolean => /^plantstore (login|doctor)/.test(command);

function readSteps(readme: string): readonly Step[] {
  const blocks = [...readme.matchAll(/^```console\n([^]*?)^```$/gm)];
  const sessions = blocks.map(([, text = ""]) =>
    text
      .split(/^\$ /m)
      .slice(1)
      .map((step): Step => {
        const [, command = "", shown = ""] = /^((?:.*\\\n)*.*)\n([^]*)$/.exec(step) ?? [];
        return { command, shown };
      }),
  );
  return sessions.filter((steps) => !steps.some(isElsewhere)).flat();
}

/** What is another one each time. */
function toComparable(text: string): string {
  return (
    text
      .replaceAll("\r", "")
      .replaceAll(/pst_\w{4}/g, "pst_0000")
      .replaceAll(/\d{4}-\d\d-\d\d/g, "2026-01-31")
      .replaceAll(/\d\d:\d\d UTC/g, "00:00 UTC")
      .replaceAll(/request [0-9a-f]+-\d+/g, "request 0-0")
      .replaceAll(/in [\d.]+ s \([\d,.]+\/s\)/g, "in 0.0 s (0/s)")
      // A use is noted a second later, and a column is as wide as what is in it.
      .replaceAll(/(?:2026-01-31|never) +active/g, "used active")
      .replaceAll(/ +/g, " ")
      .trimEnd()
  );
}

it("every command of the README's sessions, in their order, shows what the README says", async () => {
  const home = await createTemporaryDirectory();
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const steps = readSteps(readme);
  expect(steps.length).toBeGreaterThan(12);
  const input = steps.find(({ command }) => command === "cat plants.ndjson");
  await writeFile(join(home, "plants.ndjson"), input?.shown ?? "");
  const server = startBinary(["serve", "--port", "0"], { home });
  const url = await server.firstLine;

  const script = steps
    .map(({ command }) => `${command}\nmark\n`)
    .join("")
    .replaceAll("http://127.0.0.1:7526", url)
    // Where the tests allow a token to be.
    .replaceAll("ci.token", "token");
  await writeFile(join(home, "tour.sh"), shell + script);
  const screen = await startSession("sh tour.sh", home, { PLANTSTORE_URL: url }).finished;

  const shown = screen.split(mark).map(toComparable);
  for (const [index, step] of steps.entries()) {
    expect(shown[index]?.replace(/^\n/, ""), step.command).toBe(toComparable(step.shown));
  }
});
