/** The README is short, and begins with the first commands of a new user. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly engines: { readonly node: string };
};

it("the README begins with the commands that start and test the server", () => {
  const commands = [...readme.matchAll(/```sh\n([^`]+)\n```/g)].map(([, command]) => command);
  expect(commands.slice(0, 2)).toEqual(["npm ci && npm start", "npm ci && npm test"]);
});

it("the README has at most 1,300 words", () => {
  expect(readme.trim().split(/\s+/).length).toBeLessThanOrEqual(1300);
});

it("the README names the versions of Node.js in package.json", () => {
  const ranges = manifest.engines.node.split(" || ").map((range) => {
    const [, kind, version = ""] = /^(\^|>=)([\d.]+)$/.exec(range) ?? [];
    return kind === "^" ? `${version.split(".")[0]} from ${version}` : `from ${version}`;
  });
  const last = ranges.pop();
  expect(readme.replaceAll("\n", " ")).toContain(
    `You need Node.js ${ranges.join(", ")}, or any version ${last}.`,
  );
});
