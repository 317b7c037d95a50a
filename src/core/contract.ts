/** The operations of the service with their paths, its version, and the names of its headers (contract.md "Given"). */

/**
 * Sets of operations that a server can serve: `create`, the operation of the interface description, or `all` (contract.md "All
 * operations").
 */
export const operationSets = ["create", "all"] as const;

/** One of {@link operationSets}. */
export type OperationSet = (typeof operationSets)[number];

/**
 * Every operation. The base path precedes the paths of those of the contract, which need a token. Each of these needs a `change`
 * of the store, or a `page` if it reads plants: that decides its limits, its faults, and what runs beside it.
 */
export const operations = {
  create: { method: "POST", path: "/plants", needs: "change" },
  list: { method: "GET", path: "/plants", needs: "page" },
  delete: { method: "DELETE", path: "/plants/{id}", needs: "change" },
  health: { method: "GET", path: "/healthz" },
  readiness: { method: "GET", path: "/readyz" },
  description: { method: "GET", path: "/openapi.json" },
  metrics: { method: "GET", path: "/metrics" },
  page: { method: "GET", path: "/docs" },
} as const;

/** The name of a row of {@link operations}; metrics use it too. */
export type OperationId = keyof typeof operations;

type OperationWithNeeds = {
  [Id in OperationId]: (typeof operations)[Id] extends { needs: string } ? Id : never;
}[OperationId];

export const contractOperations = {
  create: ["create"],
  all: ["create", "list", "delete"],
} as const satisfies Record<OperationSet, readonly OperationWithNeeds[]>;

export type ContractOperationId = (typeof contractOperations)["all"][number];

/** For OpenAPI and `plantstore --version`. */
export const plantStoreInterface = { title: "plant store", version: "1.0.0" } as const;

/** Header of the response to a create. */
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
