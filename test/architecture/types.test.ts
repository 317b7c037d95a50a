/** The built types, as other programs use them. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const root = fileURLToPath(new URL("../..", import.meta.url));
const dist = join(root, "dist/");
const files = Object.values(manifest.exports).flatMap((each) =>
  typeof each === "string" ? [] : [each.types],
);

/** Lists the types of the package that a signature of an exported name mentions, and that are not exported themselves. */
function findUnnamed(types: string): string[] {
  const path = join(root, types);
  const program = ts.createProgram([path], { noLib: true, types: [] });
  const checker = program.getTypeChecker();
  const resolve = (symbol: ts.Symbol): ts.Symbol =>
    (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
  const file = program.getSourceFile(path);
  if (file === undefined) throw new Error(`${path} does not exist: run npm run build`);
  const module = checker.getSymbolAtLocation(file);
  const exported = new Set((module && checker.getExportsOfModule(module))?.map(resolve));
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

describe("the built types", () => {
  it.each(files)("of %s export every type of their signatures", (path) => {
    expect(findUnnamed(path)).toEqual([]);
  });
});
