/** Which requests mean what; those that mean nothing here are refused. */
import { Refusal } from "../../core/errors.ts";
import type { IncomingMessage } from "node:http";
import { quoteInput } from "../../core/quote.ts";

/** What a server can be asked to do: the contract's one operation, and what tells of the server (CONTRACT "HTTP"). */
export type Operation =
  | "create"
  | "health"
  | "readiness"
  | "metrics"
  | "description"
  | "page"
  | "options";

/** A request with a method that its path does not have. */
export class MethodRefusal extends Refusal {
  /** The value for an Allow header (RFC 9110 section 10.2.1). */
  readonly allow: string;

  constructor(message: string, allow: string) {
    super("noSuchMethod", message);
    this.allow = allow;
  }
}

/** What a request means. */
export interface Route {
  readonly operation: Operation;
  /** What else its path can be asked. */
  readonly methods: readonly string[];
}

/** What a router reads of a request. */
export type RoutedRequest = Pick<IncomingMessage, "method" | "url" | "headers">;

/** What is there only where it is wanted. */
export interface OptionalPaths {
  /** The page for people. */
  readonly hasPage: boolean;
  readonly hasMetrics: boolean;
  /** OPTIONS, with which a browser asks on behalf of a page of another origin. */
  readonly hasOptions: boolean;
}

/**
 * The operations by method and target.
 *
 * @param basePath in front of `/plants`, and of nothing else
 * @returns a function that throws a Refusal `noSuchPath` or `noSuchMethod`
 */
export function createRouter(
  basePath: string,
  { hasPage, hasMetrics, hasOptions }: OptionalPaths,
): (request: RoutedRequest) => Route {
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

  const createRoute = routes.get(createPath);
  return (request) => {
    const { method = "", url = "" } = request;
    // Nearly always.
    if (createRoute !== undefined && method === "POST" && url === createPath) return createRoute;
    const path = toPath(url);
    // A browser may begin at the root; for a program nothing is there.
    const isPage =
      path === "/docs" ||
      (path === "/" &&
        pageRoute.methods.includes(method) &&
        (request.headers.accept ?? "").includes("text/html"));
    const route = hasPage && isPage ? pageRoute : routes.get(path);
    if (route === undefined) {
      const message = `no such path: "${quoteInput(path, 80)}"; plants are created with POST ${createPath}`;
      throw new Refusal("noSuchPath", message);
    }
    if (!route.methods.includes(method)) {
      const allow = route.methods.join(", ");
      throw new MethodRefusal(
        `no such method on ${path}: ${quoteInput(method)}; send ${allow}`,
        allow,
      );
    }
    return method === "OPTIONS" ? { ...route, operation: "options" } : route;
  };
}

/** The path of a request's target, in origin-form or absolute-form, without its query. */
export function toPath(target: string): string {
  // Nearly always.
  if (target.startsWith("/") && !target.includes("?")) return target;
  const [beforeQuery = ""] = target.split("?", 1);
  return beforeQuery.replace(/^https?:\/\/[^/]*/i, "");
}
