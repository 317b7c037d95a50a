/** Store URLs. */
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseStoreUrl, storeForms } from "../../src/store/store-url.ts";

const file = { kind: "file" };
const database = { kind: "database" };

describe("parseStoreUrl", () => {
  it.each([
    ["memory:", { kind: "memory", url: "memory:" }],
    ["sqlite:plants.db", { ...file, path: "plants.db", url: "sqlite:plants.db" }],
    ["sqlite:/var/lib/plants.db", { ...file, path: "/var/lib/plants.db" }],
    ["sqlite:C:\\plants.db", { ...file, path: "C:\\plants.db" }],
    ["sqlite:file:a%20b.db?mode=memory#c", { ...file, path: "file:a%20b.db?mode=memory#c" }],
    [
      "postgres://user:secret@host/p?sslmode=disable",
      {
        ...database,
        url: "postgres://host:5432/p",
        absoluteUrl: "postgres://user@host/p?sslmode=disable",
      },
    ],
    ["postgresql://host/plants", database],
    ["sqlite:./:memory:", { ...file, path: "./:memory:" }],
  ])("parses %s, with an unchanged path, and shows no secret", (url, location) => {
    expect(parseStoreUrl(url)).toMatchObject(location);
  });

  it.each([
    ["sqlite:", "sqlite: needs a path, such as sqlite:plants.db"],
    [
      "sqlite::memory:",
      /^sqlite::memory: is not a file: use memory: for .*, or sqlite:\.\/:memory:/,
    ],
    ["memory:plants", "memory: must not have a path: use memory: alone"],
    ["", /^unknown store type "": use sqlite:PATH .* postgres:.* or memory:/],
    ["postgres://user:secret@host", /^the URL of the store names no database: (?!.*secret)/],
    ["plants.db", 'unknown store type "plants.db": use sqlite:plants.db'],
    ["file:plants.db", 'unknown store type "file:": use sqlite:plants.db'],
    ["sqlite3:/srv/a b.db", 'unknown store type "sqlite3:": use sqlite:/srv/a b.db'],
    ["SQLITE:plants.db", 'unknown store type "SQLITE:": use sqlite:plants.db'],
    ["memory", 'unknown store type "memory": use memory:'],
    [":memory:", 'unknown store type ":": use memory:'],
    [
      '"postgres://user:secret@host/db"',
      /^unknown store type ""postgres:": remove the quotes(?!.*secret)/,
    ],
    [" postgres://user:secret@host/db", /^unknown store type " postgres:": remove (?!.*secret)/],
    ["user@host:secret/db", /^unknown store type "": use sqlite:PATH(?!.*secret)/],
    ["sqlite:postgres://user:secret@host/db", "sqlite: needs the path of a file, not a URL"],
    [
      "https://user:secret@host",
      /^"https:" is for the URL of a server: pass it with --url, (?!.*secret)/,
    ],
    ["mysql://user:secret@host/db", /^unknown store type "mysql:": use sqlite:PATH/],
  ])("rejects %s with advice", (url, message) => {
    expect(() => parseStoreUrl(url)).toThrow(
      expect.objectContaining({
        name: "StoreError",
        reason: "unusable",
        message: typeof message === "string" ? message : expect.stringMatching(message),
      }),
    );
  });
});

it("help and the advice for an unknown type name the URLs of each engine", () => {
  const entries = readdirSync("src/store", { withFileTypes: true });
  const engines = entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${name}:`);
  for (const scheme of [...engines, "memory:"]) {
    expect(storeForms.any).toContain(scheme);
    expect(() => parseStoreUrl("")).toThrow(scheme);
  }
});
