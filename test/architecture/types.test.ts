/** The built types, as other programs use them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { errorTable } from "../../src/core/errors.ts";
import { root } from "../helpers/run.ts";
import manifest from "../../package.json" with { type: "json" };

const dist = join(root, "dist/");
const files = Object.values(manifest.exports).flatMap((each) =>
  typeof each === "string" ? [] : [each.types],
);

/** Reads the exported names of a file of types. */
function readExports(types: string) {
  const path = join(root, types);
  const program = ts.createProgram([path], { lib: ["lib.es2022.d.ts"], types: [], strict: true });
  const checker = program.getTypeChecker();
  const resolve = (symbol: ts.Symbol): ts.Symbol =>
    (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
  const file = program.getSourceFile(path);
  if (file === undefined) throw new Error(`${path} does not exist: run npm run build`);
  const module = checker.getSymbolAtLocation(file);
  const exported = new Set((module && checker.getExportsOfModule(module))?.map(resolve));
  return { checker, resolve, exported };
}

/** Lists the types of the package that a signature of an exported name mentions, and that are not exported themselves. */
function findUnnamed(types: string): string[] {
  const { checker, resolve, exported } = readExports(types);
  const unnamed = new Set<string>();

  function visit(node: ts.Node): void {
    // A program sees the members of a parent, not its name.
    if (ts.isHeritageClause(node)) return;
    if (ts.isTypeReferenceNode(node)) {
      const found = checker.getSymbolAtLocation(node.typeName);
      const symbol = found && resolve(found);
      const isOurs = symbol?.declarations?.some(
        (each) =>
          each.getSourceFile().fileName.startsWith(dist) && !ts.isTypeParameterDeclaration(each),
      );
      if (isOurs && !exported.has(symbol!)) unnamed.add(symbol!.name);
    }
    ts.forEachChild(node, visit);
  }
  for (const { declarations = [] } of exported) {
    for (const declaration of declarations) visit(declaration);
  }
  return [...unnamed];
}

/** Lists the members of options and of objects, each with the comment that an editor shows. */
function readComments(types: string): [member: string, comment: string][] {
  const { checker, exported } = readExports(types);
  const interfaces = [...exported].filter(({ flags }) => flags & ts.SymbolFlags.Interface);
  return interfaces.flatMap((symbol) =>
    checker
      .getDeclaredTypeOfSymbol(symbol)
      .getProperties()
      .map((member): [string, string] => {
        const comment = ts.displayPartsToString(member.getDocumentationComment(checker));
        return [`${symbol.name}.${member.name}`, comment];
      }),
  );
}

/** Reads the number and the condition of each error, as an editor shows them: both are literal types. */
function readErrorRows(types: string): [error: string, fields: readonly unknown[]][] {
  const { checker, exported } = readExports(types);
  const table = [...exported].find(({ name }) => name === "errorTable");
  const rows = table === undefined ? [] : checker.getTypeOfSymbol(table).getProperties();
  const readLiteral = (row: ts.Symbol, field: string): unknown => {
    const member = checker.getTypeOfSymbol(row).getProperty(field);
    const type = member && checker.getTypeOfSymbol(member);
    return type?.isLiteral() === true ? type.value : undefined;
  };
  return rows.map((row) => [row.name, ["error", "when"].map((field) => readLiteral(row, field))]);
}

describe("the built types", () => {
  it.each(files)("of %s show the number and the condition of every error", (path) => {
    const rows = Object.entries(errorTable).map(([kind, { error, when }]) => [kind, [error, when]]);
    expect(readErrorRows(path)).toEqual(rows);
  });

  it.each(files)("of %s have a comment for every option and member", (path) => {
    const comments = new Map(readComments(path));
    expect(comments.get("PlantClientOptions.retries")).toContain("by default 2");
    expect(comments.get("CreateManyOptions.concurrency")).toContain("by default 128");
    expect([...comments].filter(([, comment]) => comment === "")).toEqual([]);
  });

  it.each(files)("of %s export every type of their signatures", (path) => {
    expect(findUnnamed(path)).toEqual([]);
  });

  it("show options as plain types, without the tables that parse and check them", () => {
    const names = readdirSync(dist).filter((name) => name.endsWith(".d.ts"));
    const lines = names.flatMap((name) => readFileSync(join(dist, name), "utf8").split("\n"));
    expect(lines.length).toBeGreaterThan(500);
    expect(lines.filter((line) => /^ *(?:parse|check|format)[(:]/.test(line))).toEqual([]);
  });
});
