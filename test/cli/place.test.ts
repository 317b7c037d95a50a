/** The rule of the place: the flag, the variable, the last login unless it is the server of this machine, this machine. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { saveSettings } from "../../src/cli/config/saved-settings.ts";
import { allTerminals, runCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const builtIn = "http://127.0.0.1:7526";
/** A server of this machine's user may be there. */
const isBuiltInUsed = await fetch(builtIn).then(Boolean, () => false);
const flagUrl = "https://flag.example.org";
const variableUrl = "https://variable.example.org/v1";
const flagStore = "sqlite:/nonexistent/flag.db";
const variableStore = "sqlite:/nonexistent/variable.db";

const flags = { none: [], url: ["--url", flagUrl], store: ["--store", flagStore] };
const serves = { none: undefined, port: "http://127.0.0.1:9", socket: "unix:/nonexistent/a" };
/** URLs of the last login, for that of the server on this machine. */
const logins = {
  none: () => undefined,
  here: (machine: string) => machine.replace("127.0.0.1", "localhost"),
  "another one here": () => "http://127.0.0.1:13",
  remote: () => "https://login.example.org/v1",
};

/** Every combination. */
const cases = typedEntries(flags).flatMap(([flag, words]) =>
  [undefined, "", variableUrl].flatMap((url) =>
    [undefined, "", variableStore].flatMap((store) =>
      typedEntries(logins).flatMap(([login, toLogin]) =>
        Object.values(serves).map((serve) => {
          const loginUrl = toLogin(serve ?? builtIn);
          return { flag, words, variables: { url, store }, login, loginUrl, serve };
        }),
      ),
    ),
  ),
);
type Case = (typeof cases)[number];

function typedEntries<Key extends string, Value>(table: Readonly<Record<Key, Value>>) {
  return Object.entries(table) as [Key, Value][];
}

/** The place, or the reason of exit code 2. */
function toExpected(command: string, each: Case, hasTerminal: boolean): string {
  const { flag, variables, login, loginUrl, serve } = each;
  if (flag === "url") return flagUrl;
  if (command === "create") {
    return flag === "store" ? "no '--store'" : variables.url || loginUrl || serve || builtIn;
  }
  if (flag === "store") return flagStore;
  if (variables.url && variables.store) return "both set: pass --url or --store";
  const variable = variables.url || variables.store;
  if (variable) return variable;
  if (loginUrl === undefined || login === "here") return "the default store";
  return command === "delete" && !hasTerminal ? `pass --url ${loginUrl}` : loginUrl;
}

/** Without a token and without a store, each command fails at its place, and names it. */
const named =
  /no token for (\S+)|cannot connect to (\S+): |the store (\S+) |no store at (\S+) |(no '--store')|(both set: .*)|(pass --url \S+)/;

describe.each(["create --id 1 --name fern", "list", "get 1", "export", "delete 1 --yes"])(
  "%s acts at its place",
  (line) => {
    const [command = "", ...operands] = line.split(" ");

    it.each([
      ["on a terminal, and names it first", true],
      ["without a terminal", false],
    ])("%s", async (_, hasTerminal) => {
      const home = await createTemporaryDirectory();
      const defaultStore = `sqlite:${home}/.local/share/plantstore/plants.db`;
      const found = [];
      for (const each of cases) {
        const { words, variables, loginUrl, serve } = each;
        await saveSettings(join(home, ".config/plantstore"), { login: loginUrl, serve });
        const env = {
          ...(variables.url !== undefined && { PLANTSTORE_URL: variables.url }),
          ...(variables.store !== undefined && { PLANTSTORE_STORE: variables.store }),
        };
        const options = { home, env, terminals: hasTerminal ? allTerminals : {}, columns: 400 };
        const { exitCode, stderr } = await runCli([command, ...operands, ...words], options);
        const groups = named.exec(stderr)?.slice(1) ?? [];
        const name = groups.find(Boolean)?.replace(/^(?=\/)/, "sqlite:");
        const place = name?.replace(defaultStore, "the default store");
        const [first = ""] = stderr.split("\n");
        found.push({
          ...each,
          exitCode,
          place,
          first: first.replace(defaultStore, "the default store"),
        });
      }
      const expected = cases.map((each) => {
        const place = toExpected(command, each, hasTerminal);
        const isServer = /^(?:http|unix)/.test(place);
        const isRefused = /^(?:http:|unix:)/.test(place);
        const isClosed = isRefused && !(place === builtIn && isBuiltInUsed);
        const exitCode = isClosed ? 6 : isServer ? 4 : 2;
        const isPlace = isServer || /^(?:sqlite|the default)/.test(place);
        const first =
          hasTerminal && isPlace
            ? `${isServer ? "Server" : "Store"}: ${place}`
            : (expect.stringMatching(/error.*: /) as string);
        return { ...each, exitCode, place, first };
      });
      expect(found).toEqual(expected);
    });
  },
);
