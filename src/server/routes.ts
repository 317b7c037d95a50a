/** Which requests mean what; those that mean nothing here are refused. */
import { Refusal } from "../core/errors.ts";
import { quoteInput } from "../core/quote.ts";

/** What a server can be asked to do: the contract's one operation, and what tells of the server (CONTRACT "HTTP"). */
export type Operation = "create" | "health" | "readiness" | "metrics" | "description" | "page";

/** A request with a method that its path does not have. */
export class MethodRefusal extends Refusal {
  /** The value for an Allow header (RFC 9110 section 10.2.1). */
  readonly allow: string;

  constructor(message: string, allow: string) {
    super("noSuchMethod", message);
    this.allow = allow;
  }
}

interface Route {
  readonly operation: Operation;
  readonly methods: readonly [string, ...string[]];
}

/** What a router reads of a request. */
export interface RoutedRequest {
  readonly method: string;
  /** In origin-form or absolute-form (RFC 9112 section 3.2); a query has no meaning. */
  readonly target: string;
  /** The Accept header. */
  readonly accept: string;
}

/** What is there only where it is wanted. */
export interface OptionalPaths {
  /** The page for people. */
  readonly hasPage: boolean;
  readonly hasMetrics: boolean;
}

/**
 * The operations by method and target.
 *
 * @param basePath in front of `/plants`, and of nothing else
 * @returns a function that throws a Refusal `noSuchPath` or `noSuchMethod`
 */
export function createRouter(
  basePath: string,
  { hasPage, hasMetrics }: OptionalPaths,
): (request: RoutedRequest) => Operation {
  const createPath = `${basePath}/plants`;
  const routes = new Map<string, Route>([
    [createPath, { operation: "create", methods: ["POST"] }],
    ["/healthz", { operation: "health", methods: ["GET", "HEAD"] }],
    ["/readyz", { operation: "readiness", methods: ["GET", "HEAD"] }],
    ["/openapi.json", { operation: "description", methods: ["GET", "HEAD"] }],
  ]);
  if (hasMetrics) routes.set("/metrics", { operation: "metrics", methods: ["GET", "HEAD"] });
  const pageRoute: Route = { operation: "page", methods: ["GET", "HEAD"] };

  return ({ method, target, accept }) => {
    const path = toPath(target);
    // A browser may begin at the root; for a program nothing is there.
    const isPage =
      path === "/docs" ||
      (path === "/" && pageRoute.methods.includes(method) && accept.includes("text/html"));
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
    return route.operation;
  };
}

/** The path of a request's target, in origin-form or absolute-form, without its query. */
export function toPath(target: string): string {
  const [beforeQuery = ""] = target.split("?", 1);
  return beforeQuery.replace(/^https?:\/\/[^/]*/i, "");
}
