/** The operations of the service with their paths, its version, and the names of its headers (contract.md "Given"). */

/**
 * Sets of operations of the contract that a server can serve. `create` is the operation of the interface description; `all`
 * has those of the whole example too (contract.md "The whole example").
 */
export const operationSets = ["create", "all"] as const;

/** One of {@link operationSets}. */
export type OperationSet = (typeof operationSets)[number];

/** A row of {@link operations}. */
export type OperationRow = {
  readonly method: "DELETE" | "GET" | "POST" | "PUT";
  /** `{name}` matches any one segment. The base path precedes it if the operation needs a token. */
  readonly path: `/${string}`;
} & (
  | {
      /** True for the operations of the contract, whose credential is checked before anything else. */
      readonly needsToken: true;
      /** The smallest set that has it. */
      readonly set: OperationSet;
      /** Names of the parameters of its query; those of its path are in the text of the path. */
      readonly query?: readonly string[];
    }
  | { readonly needsToken: false }
);

/**
 * Every operation. `core/parameters.ts` reads their parameters, `core/openapi.ts` describes those of the contract, and
 * `server/operations.ts` performs all of them.
 */
export const operations = {
  create: { method: "POST", path: "/plants", needsToken: true, set: "create" },
  list: {
    method: "GET",
    path: "/plants",
    needsToken: true,
    set: "all",
    query: ["limit", "after"],
  },
  delete: { method: "DELETE", path: "/plants/{id}", needsToken: true, set: "all" },
  health: { method: "GET", path: "/healthz", needsToken: false },
  readiness: { method: "GET", path: "/readyz", needsToken: false },
  description: { method: "GET", path: "/openapi.json", needsToken: false },
  metrics: { method: "GET", path: "/metrics", needsToken: false },
  page: { method: "GET", path: "/docs", needsToken: false },
} as const satisfies Record<string, OperationRow>;

/** The name of a row of {@link operations}; metrics use it too. */
export type OperationId = keyof typeof operations;

/** The operations of the contract. */
export type ContractOperationId = {
  [Id in OperationId]: (typeof operations)[Id]["needsToken"] extends true ? Id : never;
}[OperationId];

/** Returns whether an operation is one of the contract. */
export function isContractOperation(id: OperationId): id is ContractOperationId {
  return operations[id].needsToken;
}

/** Returns whether a server with a set of operations serves an operation. */
export function isServed(id: OperationId, set: OperationSet): boolean {
  const row: OperationRow = operations[id];
  return !row.needsToken || row.set === "create" || row.set === set;
}

/** Returns the operations of the contract in a set, in the order of the table. */
export function listOperations(set: OperationSet): readonly ContractOperationId[] {
  const ids = Object.keys(operations) as readonly OperationId[];
  return ids.filter(isContractOperation).filter((id) => isServed(id, set));
}

/** The names of the parameters in the text of a path, and in a query: those of `/plants/{id}` are `"id"`. */
export type ParameterNames<Row extends OperationRow> =
  | NamesInPath<Row["path"]>
  | (Row extends { readonly query: readonly (infer Name)[] } ? Name : never);

type NamesInPath<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesInPath<Rest>
  : never;

/** Title and version of the interface, in OpenAPI and in `plantstore --version`. */
export const plantStoreInterface = { title: "plant store", version: "1.0.0" } as const;

/** Header of the response to a create: its result. */
export const resultHeader = "X-Plantstore-Result";

/** Header of a create that only checks a token. The server logs its rejection at level `debug`, unless the token was rejected. */
export const tokenCheckHeader = "x-plantstore-probe";

/**
 * Version, trace id, parent id and flags (W3C Trace Context section 3.2). Version 00 has no more than these 55 characters;
 * a later one may. Version ff, and ids of zeros, are invalid.
 */
const validTraceparent =
  /^(?!ff|00-.{53})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[!-~]*)?$/;

/** Returns the trace id in the text of a traceparent header; undefined for an invalid text, which a receiver ignores. */
export function toTraceId(traceparent: string): string | undefined {
  return validTraceparent.exec(traceparent)?.[1];
}
