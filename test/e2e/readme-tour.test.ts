/** The sessions at a terminal in the README and the manual show what a terminal shows, from an empty home. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { serveBinary } from "../helpers/binary-server.ts";
import { startSession } from "../helpers/pseudo-terminal.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

/** A command and its output. */
interface Step {
  readonly command: string;
  readonly shown: string;
}

/** Separates the outputs of two commands, and leaves `$?` as it is. */
const mark = "@@@";
/** Without curl, another command creates the plant that later commands need. */
const shell = `
  stty cols 120
  plantstore() { $PLANTSTORE "$@"; }
  npx() { shift; $PLANTSTORE "$@"; }
  mark() { status=$?; echo "${mark}"; return $status; }
  command -v curl >/dev/null || curl() { plantstore create --id 2 --name monstera --tag pot; }
`;

/** Reads the sessions of a document: fenced in the README, indented in the manual. */
function readSteps(text: string): readonly Step[] {
  const fenced = [...text.matchAll(/^```console\n([^]*?)^```$/gm)].map(
    ([, session = ""]) => session,
  );
  const indented = [...text.matchAll(/(?:^ {4}.*\n|^\n(?= {4}))+/gm)]
    .map(([session]) => session.replaceAll(/^ {4}/gm, ""))
    .filter((session) => session.trimStart().startsWith("$ "))
    // A server runs until it is stopped.
    .filter((session) => !session.includes("$ plantstore serve"));
  return [...fenced, ...indented].flatMap((session) =>
    session
      .split(/^\$ /m)
      .slice(1)
      .map((step): Step => {
        const [, command = "", shown = ""] = /^((?:.*\\\n)*.*)\n([^]*)$/.exec(step) ?? [];
        return { command, shown };
      }),
  );
}

/** Replaces what differs from run to run. */
function toComparable(text: string): string {
  return (
    text
      .replaceAll("\r", "")
      .replaceAll(/sqlite:\S+/g, "sqlite:plants.db")
      .replaceAll(/pst_\w{4}/g, "pst_0000")
      .replaceAll(/\d{4}-\d\d-\d\d/g, "2026-01-31")
      .replaceAll(/\d\d:\d\d UTC/g, "00:00 UTC")
      .replaceAll(/request [0-9a-f]+-\d+/g, "request 0-0")
      .replaceAll(/in [\d.]+ s(?: \([\d,.]+\/s\))?/g, "in 0.0 s")
      // A use is noted a second later, and a column is as wide as what is in it.
      .replaceAll(/(?:2026-01-31|never) +active/g, "used active")
      .replaceAll(/ +/g, " ")
      .trimEnd()
  );
}

it.each<[document: string, minimumSteps: number]>([
  ["README.md", 8],
  ["src/manual/tokens.md", 3],
  ["src/manual/bulk.md", 2],
])("the commands in %s have the output that it shows", async (path, minimumSteps) => {
  const home = await createTemporaryDirectory();
  const steps = readSteps(await readFile(new URL(`../../${path}`, import.meta.url), "utf8"));
  expect(steps.length).toBeGreaterThanOrEqual(minimumSteps);
  const input = steps.find(({ command }) => command === "cat plants.ndjson");
  if (input !== undefined) await writeFile(join(home, "plants.ndjson"), input.shown);
  const { url } = await serveBinary([], { home });

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
