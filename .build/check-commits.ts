/**
 * Checks the messages of the commits after one: a subject of at most 72 characters, and a body with the reason. Prints each
 * problem. A shallow clone does not have these commits, and is not checked.
 *
 * Usage: tsx .build/check-commits.ts [COMMIT]
 */
import { execFileSync } from "node:child_process";

/** The last commit before the rules were checked: some of the older commits break them. */
const lastUnchecked = "ebd982057fc28c30ad51eb494c78775d0af52bf1";
const maxSubjectLength = 72;

const [since = lastUnchecked] = process.argv.slice(2);
const git = (...args: readonly string[]): string =>
  execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

if (git("rev-parse", "--is-shallow-repository") === "true\n") {
  process.stderr.write("NOT CHECKED: messages of commits, because the clone is shallow\n");
} else {
  const format = "--format=%h%x00%s%x00%b%x00";
  const fields = git("log", "--no-merges", format, `${since}..HEAD`).split("\0");
  const count = Math.floor(fields.length / 3);
  const problems = Array.from({ length: count }, (_, index) => {
    const [name = "", subject = "", body = ""] = fields.slice(3 * index);
    return toProblems(subject, body).map((problem) => `${name.trim()} ${problem}: ${subject}\n`);
  }).flat();
  process.stderr.write(`${problems.join("")}${problems.length} problems in ${count} commits\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

function toProblems(subject: string, body: string): readonly string[] {
  const isLong = Array.from(subject).length > maxSubjectLength;
  return [
    ...(isLong ? [`the subject has more than ${maxSubjectLength} characters`] : []),
    ...(body.trim() === "" ? ["the body with the reason is missing"] : []),
  ];
}
