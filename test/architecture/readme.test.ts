/** The README begins with the first commands of a new user. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");

it("the README begins with the commands that start and test the server", () => {
  const commands = [...readme.matchAll(/```sh\n([^`]+)\n```/g)].map(([, command]) => command);
  expect(commands.slice(0, 2)).toEqual(["npm ci && npm start", "npm ci && npm test"]);
});
