/** Names of functions and types in src: one name for one meaning. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";

const src = fileURLToPath(new URL("../../src", import.meta.url));

/** A function or a type with a name. */
interface Named {
  readonly name: string;
  readonly path: string;
  /** True for one in a function, which nothing outside of it sees. */
  readonly isLocal: boolean;
  readonly node: ts.Node;
}

/** Files whose functions are parallel: each SQL engine has its own of the same name. */
const isSqlEngine = ({ path }: Named): boolean => /^store[\\/](?:postgres|sqlite)[\\/]/.test(path);

/** Returns the name that a node gives to a function or a type; undefined for other nodes, and for methods. */
function findName(node: ts.Node): string | undefined {
  const isDeclaration =
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node);
  if (isDeclaration) return node.name?.text;
  if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name)) return undefined;
  const { initializer } = node;
  const isFunction =
    initializer && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer));
  return isFunction ? node.name.text : undefined;
}

function listNames(path: string): readonly Named[] {
  const text = readFileSync(join(src, path), "utf8");
  const found: Named[] = [];
  const visit = (node: ts.Node, isLocal: boolean): void => {
    const name = findName(node);
    if (name !== undefined) found.push({ name, path, isLocal, node });
    ts.forEachChild(node, (child) => visit(child, isLocal || ts.isFunctionLike(node)));
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest), false);
  return found;
}

const named = readdirSync(src, { recursive: true, encoding: "utf8" })
  // In the build for browsers, NAME.browser.ts takes the place of NAME.ts.
  .filter((path) => path.endsWith(".ts") && !/\.(?:d|browser)\.ts$/.test(path))
  .flatMap(listNames);

/** The names that a file declares outside of functions, each with the files. */
const places = new Map<string, Named[]>();
for (const each of named.filter(({ isLocal }) => !isLocal)) {
  const others = places.get(each.name) ?? [];
  // A function has a declaration for each of its overloads.
  if (others.every(({ path }) => path !== each.path)) places.set(each.name, [...others, each]);
}

const list = (all: readonly Named[] = []): string => all.map(({ path }) => path).join(", ");

it("gives each function and type a name of its own, except in parallel files of the SQL engines", () => {
  expect(places.size).toBeGreaterThan(800);
  const repeated = [...places].filter(([, all]) => all.length > 1 && !all.every(isSqlEngine));
  expect(repeated.map(([name, all]) => `${name}: ${list(all)}`)).toEqual([]);
});

it("gives no local function the name of one that a file declares", () => {
  const hiding = named.filter(({ name, isLocal }) => isLocal && places.has(name));
  expect(
    hiding.map((each) => `${each.name}: ${each.path}, ${list(places.get(each.name))}`),
  ).toEqual([]);
});

/** Returns whether a node has a node of its own function that fits. */
function has(node: ts.Node, isWanted: (node: ts.Node) => boolean): boolean {
  return (
    ts.forEachChild(
      node,
      (child) => isWanted(child) || (!ts.isFunctionLike(child) && has(child, isWanted)),
    ) === true
  );
}

it("has no function of the name to… that waits or throws", () => {
  const isImpure = (node: ts.Node): boolean =>
    ts.isThrowStatement(node) || node.kind === ts.SyntaxKind.AsyncKeyword;
  const impure = named.filter(({ name, node }) => {
    const body = ts.isVariableDeclaration(node) ? node.initializer : node;
    return /^to[A-Z]/.test(name) && body !== undefined && has(body, isImpure);
  });
  expect(impure.map(({ name, path }) => `${name}: ${path}`)).toEqual([]);
});
