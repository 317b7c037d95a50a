/** Maps method and target of a request to an operation (contract.md "HTTP"). */
import { RequestError } from "../core/errors.ts";
import { isContractOperation, type OperationId, operations } from "../core/contract.ts";
import { quoteInput } from "../core/quote.ts";
import { MethodError } from "./failure.ts";
import type { OperationFunctions, Perform } from "./operations.ts";
import type { ServerBackend } from "./options.ts";
import type { HttpRequest } from "./request.ts";
import { toOptionsResponse } from "./response.ts";

/** The operation of a request. */
export type Route = (
  | { readonly needsToken: true; readonly perform: Perform<ServerBackend> }
  | { readonly needsToken: false; readonly perform: Perform<ServerBackend | undefined> }
) & {
  readonly operation: HttpRequest["operation"];
  /** Segments for the parameters of the operation's path, as the client wrote them. */
  readonly parameters: Readonly<Record<string, string>>;
};

/** A path that exists, and its routes by method. */
interface Path {
  /** Has a group for each parameter. */
  readonly pattern: RegExp;
  readonly routes: Map<string, Route>;
}

/**
 * Creates the router.
 *
 * @param basePath prefix of the operations that need a token, and of no other path
 * @param functions operations without a function do not exist
 * @param hasOptions adds OPTIONS to each path, for CORS preflights
 * @returns a function that returns the route, or a RequestError `noSuchPath` or `noSuchMethod`
 */
export function createRouter(
  basePath: string,
  functions: OperationFunctions,
  hasOptions: boolean,
): (request: Pick<HttpRequest, "method" | "target" | "headers">) => Route | RequestError {
  const paths = createPaths(basePath, functions, hasOptions);
  const page = paths.get(operations.page.path);
  const templates = [...paths].filter(([path]) => path.includes("{"));
  for (const [path] of templates) paths.delete(path);

  return ({ method, target, headers }) => {
    const text = toPath(target);
    // Browsers get the page at the root as well; for programs the root does not exist.
    const isRootPage =
      text === "/" &&
      page?.routes.has(method) === true &&
      (headers["accept"] ?? []).some((value) => value.includes("text/html"));
    const exact = isRootPage ? page : paths.get(text);
    const path = exact ?? templates.find(([, { pattern }]) => pattern.test(text))?.[1];
    if (path === undefined) {
      const createPath = basePath + operations.create.path;
      const message = `unknown path "${quoteInput(text, 80)}": create plants with POST ${createPath}`;
      return new RequestError("noSuchPath", message);
    }
    const { pattern, routes } = path;
    const route = routes.get(method);
    if (route === undefined) {
      const allow = toAllow(routes);
      const message = `method ${quoteInput(method)} is not allowed on ${text}: send ${allow}`;
      return new MethodError(message, allow);
    }
    return exact ? route : { ...route, parameters: pattern.exec(text)?.groups ?? {} };
  };
}

function createPaths(
  basePath: string,
  functions: OperationFunctions,
  hasOptions: boolean,
): Map<string, Path> {
  const paths = new Map<string, Path>();
  for (const [id, row] of Object.entries(operations)) {
    const route = toRoute(id as OperationId, functions);
    if (route === undefined) continue;
    const path = row.needsToken ? basePath + row.path : row.path;
    const routes = paths.get(path)?.routes ?? new Map<string, Route>();
    paths.set(path, { pattern: toPattern(path), routes: routes.set(row.method, route) });
    if (row.method === "GET") routes.set("HEAD", route);
  }
  for (const { routes } of hasOptions ? paths.values() : []) {
    const perform = () => toOptionsResponse(toAllow(routes));
    routes.set("OPTIONS", { operation: "options", parameters: {}, needsToken: false, perform });
  }
  return paths;
}

function toRoute(operation: OperationId, functions: OperationFunctions): Route | undefined {
  const parameters = {};
  // The pattern of the path finds exactly the parameters of its type.
  if (isContractOperation(operation)) {
    return {
      operation,
      parameters,
      needsToken: true,
      perform: functions[operation] as Perform<ServerBackend>,
    };
  }
  const perform = functions[operation] as Perform<ServerBackend | undefined> | undefined;
  return perform && { operation, parameters, needsToken: false, perform };
}

function toAllow(routes: Path["routes"]): string {
  return [...routes.keys()].join(", ");
}

function toPattern(path: string): RegExp {
  const escaped = path.replace(/[$()*+.?[\\\]^|]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
}

/** Returns the path of a target in origin-form or absolute-form, without its query. Without a path, it is `/`. */
export function toPath(target: string): string {
  const [beforeQuery = ""] = target.split("?", 1);
  if (beforeQuery.startsWith("/")) return beforeQuery;
  return beforeQuery.replace(/^https?:\/\/[^/]*/i, "") || "/";
}
