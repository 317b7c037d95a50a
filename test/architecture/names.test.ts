/** Exported names of src: one name for one meaning. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";

const src = fileURLToPath(new URL("../../src", import.meta.url));

/** Files whose functions are parallel: each SQL engine has its own of the same name. */
const isSqlEngine = (path: string): boolean => /^store[\\/](?:postgres|sqlite)[\\/]/.test(path);

function listExports(path: string): readonly string[] {
  const text = readFileSync(join(src, path), "utf8");
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const names = statements.flatMap((statement) => {
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) return [];
    const declarations = ts.isVariableStatement(statement)
      ? [...statement.declarationList.declarations]
      : [statement as ts.DeclarationStatement];
    return declarations.flatMap(({ name }) => (name && ts.isIdentifier(name) ? [name.text] : []));
  });
  // A function has a declaration for each of its overloads.
  return [...new Set(names)];
}

it("declares each exported name once, except in parallel files of the SQL engines", () => {
  const placesByName = new Map<string, string[]>();
  for (const path of readdirSync(src, { recursive: true, encoding: "utf8" })) {
    // In the build for browsers, NAME.browser.ts takes the place of NAME.ts.
    if (!path.endsWith(".ts") || /\.(?:d|browser)\.ts$/.test(path)) continue;
    for (const name of listExports(path)) {
      placesByName.set(name, [...(placesByName.get(name) ?? []), path]);
    }
  }
  expect(placesByName.size).toBeGreaterThan(300);
  const repeated = [...placesByName].filter(([, places]) => places.length > 1);
  expect(repeated.filter(([, places]) => !places.every(isSqlEngine))).toEqual([]);
});
