/** Maps method and target of a request to an operation (contract.md "HTTP"). */
import { RequestError } from "../core/errors.ts";
import { quoteInput } from "../core/quote.ts";
import type { HttpRequest } from "./request.ts";

/** The operation of the contract, and those that describe the server. */
export type Operation =
  | "create"
  /** A create that only checks a token, and is rejected. Named after its header, also in the metrics. */
  | "probe"
  | "health"
  | "readiness"
  | "metrics"
  | "description"
  | "page"
  | "options";

/** A request with a method that its path does not support. */
export class MethodError extends RequestError {
  /** Value of the Allow header (RFC 9110 section 10.2.1). */
  readonly allow: string;

  constructor(message: string, allow: string) {
    super("noSuchMethod", message);
    this.allow = allow;
  }
}

/** The operation of a request. */
export interface Route {
  readonly operation: Operation;
  /** Methods that the path supports. */
  readonly methods: readonly string[];
}

/** Paths and methods that exist only if they are enabled. */
export interface OptionalRoutes {
  /** The documentation page. */
  readonly hasPage: boolean;
  readonly hasMetrics: boolean;
  /** OPTIONS, for CORS preflights. */
  readonly hasOptions: boolean;
}

/**
 * Creates the router.
 *
 * @param basePath prefix of `/plants` and of no other path
 * @returns a function that returns the route, or a RequestError `noSuchPath` or `noSuchMethod`
 */
export function createRouter(
  basePath: string,
  { hasPage, hasMetrics, hasOptions }: OptionalRoutes,
): (request: Pick<HttpRequest, "method" | "target" | "headers">) => Route | RequestError {
  const createPath = `${basePath}/plants`;
  const toRoute = (operation: Operation, ...methods: readonly string[]): Route => ({
    operation,
    methods: hasOptions ? [...methods, "OPTIONS"] : methods,
  });
  const routes = new Map<string, Route>([
    [createPath, toRoute("create", "POST")],
    ["/healthz", toRoute("health", "GET", "HEAD")],
    ["/readyz", toRoute("readiness", "GET", "HEAD")],
    ["/openapi.json", toRoute("description", "GET", "HEAD")],
  ]);
  if (hasMetrics) routes.set("/metrics", toRoute("metrics", "GET", "HEAD"));
  const pageRoute = toRoute("page", "GET", "HEAD");
  if (hasPage) routes.set("/docs", pageRoute);

  return ({ method, target, headers }) => {
    const path = toPath(target);
    // Browsers get the page at the root as well; for programs the root does not exist.
    const isRootPage =
      hasPage &&
      path === "/" &&
      pageRoute.methods.includes(method) &&
      (headers["accept"] ?? []).some((value) => value.includes("text/html"));
    const route = isRootPage ? pageRoute : routes.get(path);
    if (route === undefined) {
      const message = `unknown path "${quoteInput(path, 80)}": create plants with POST ${createPath}`;
      return new RequestError("noSuchPath", message);
    }
    if (!route.methods.includes(method)) {
      const allow = route.methods.join(", ");
      return new MethodError(
        `method ${quoteInput(method)} is not allowed on ${path}: send ${allow}`,
        allow,
      );
    }
    return method === "OPTIONS" ? { ...route, operation: "options" } : route;
  };
}

/** Returns the path of a target in origin-form or absolute-form, without its query. */
export function toPath(target: string): string {
  const [beforeQuery = ""] = target.split("?", 1);
  return beforeQuery.startsWith("/") ? beforeQuery : beforeQuery.replace(/^https?:\/\/[^/]*/i, "");
}
