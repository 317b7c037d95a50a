/** Prints the results of a run: a table, or a line of JSON for each rule. */
import { type Io, writeText } from "../../src/cli/io.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";
import type { OperationSet } from "../../src/core/contract.ts";
import type { StatusMode } from "../../src/core/errors.ts";
import type { Conversation } from "./conversation.ts";
import type { RuleGroup } from "./rule.ts";
import { untestableRules } from "./rules/untestable.ts";
import type { RuleResult } from "./run.ts";
import { toEscapedLines, toRedactedText, toSafeLine } from "./transcript.ts";

/** Options for the report. */
interface ReportOptions {
  readonly url: string;
  readonly operations: OperationSet;
  readonly statusMode: StatusMode;
  /** Never printed. */
  readonly token: string;
  readonly json: boolean;
  readonly isVerbose: boolean;
}

/** The streams of the command. */
export interface Streams {
  readonly io: Io;
  readonly terminal: Terminal;
}

/** Bytes of each side of a connection that the table shows. */
const maxShownBytes = 2000;
/** The same in JSON. */
const maxJsonBytes = 64 * 1024;

const groupTitles: Readonly<Record<RuleGroup, string>> = {
  given: "The given contract",
  decided: "Decisions of plantstore",
};

/** Prints the report on stdout. @throws OutputError */
export async function printReport(
  results: readonly RuleResult[],
  options: ReportOptions,
  run: Streams,
): Promise<void> {
  if (options.json) await run.terminal.printLines(toJsonLines(results, options));
  else await writeText(run.io.stdout, `${(await toTable(results, options, run)).join("\n")}\n`);
}

async function toTable(
  results: readonly RuleResult[],
  options: ReportOptions,
  { io, terminal }: Streams,
): Promise<readonly string[]> {
  const { url, operations, statusMode, token } = options;
  const palette = await terminal.loadPalette(io.stdout);
  const lines = [`${url}, operations ${operations}, status mode ${statusMode}`];
  let lastTitle = "";
  for (const result of results) {
    const { rule, problem, conversations } = result;
    const title =
      rule.group === "given" ? groupTitles.given : `${groupTitles.decided}: ${rule.heading}`;
    if (title !== lastTitle) lines.push("", title);
    lastTitle = title;
    const isKept = problem === undefined;
    lines.push(`  ${isKept ? palette.success("pass") : palette.error("fail")}  ${rule.name}`);
    if (!isKept) lines.push(`        ${toSafeLine(problem, token)}`);
    if (!isKept || options.isVerbose) {
      lines.push(...conversations.flatMap((each, index) => toLines(each, index, options)));
    }
  }
  lines.push("", "Not testable from outside");
  for (const { name, reason } of untestableRules) lines.push(`  -     ${name}: ${reason}`);
  lines.push("", ...toSummary(results));
  return lines;
}

function toLines(
  { sent, received }: Conversation,
  index: number,
  { token }: ReportOptions,
): readonly string[] {
  const show = (bytes: Buffer, mark: string): readonly string[] =>
    toEscapedLines(bytes, token, maxShownBytes).map((line) => `        ${mark} ${line}`);
  return [
    `        connection ${index + 1}, sent:`,
    ...show(sent, ">"),
    "        received:",
    ...show(received, "<"),
  ];
}

function toSummary(results: readonly RuleResult[]): readonly string[] {
  const groups = Object.entries(groupTitles).map(([group, title]) => {
    const own = results.filter(({ rule }) => rule.group === group);
    const kept = own.filter(({ problem }) => problem === undefined).length;
    return `${title}: ${kept} of ${own.length} rules pass`;
  });
  return [...groups, `Not testable from outside: ${untestableRules.length} rules`];
}

function toJsonLines(
  results: readonly RuleResult[],
  { token, isVerbose }: ReportOptions,
): readonly string[] {
  const tested = results.map(({ rule, problem, conversations }) => {
    const { name, group, heading } = rule;
    const isKept = problem === undefined;
    const connections = conversations.map(({ sent, received }) => ({
      ...toMember("sent", sent, token),
      ...toMember("received", received, token),
    }));
    return JSON.stringify({
      rule: name,
      group,
      heading,
      result: isKept ? "pass" : "fail",
      ...(!isKept && { problem: toSafeLine(problem, token) }),
      ...((!isKept || isVerbose) && { connections }),
    });
  });
  const untested = untestableRules.map(({ name, heading, reason }) =>
    JSON.stringify({ rule: name, group: "untestable", heading, result: "untestable", reason }),
  );
  return [...tested, ...untested];
}

/** A member for bytes: text if they are UTF-8, otherwise Base64; with the number of bytes if it is cut. */
function toMember(name: string, bytes: Buffer, token: string): Readonly<Record<string, unknown>> {
  const read = toRedactedText(bytes, token);
  const cut =
    typeof read === "string"
      ? { [name]: read.slice(0, maxJsonBytes) }
      : { [`${name}Base64`]: read.subarray(0, maxJsonBytes).toString("base64") };
  return { ...cut, ...(read.length > maxJsonBytes && { [`${name}Bytes`]: bytes.length }) };
}
