/** The operations of a server: those of the contract, and those that describe the server. */

/** A row of {@link operations}. */
interface OperationRow {
  readonly method: "DELETE" | "GET" | "POST" | "PUT";
  /** `{name}` matches any one segment. The base path precedes it if the operation needs a token. */
  readonly path: `/${string}`;
  /** True for the operations of the contract, whose credential is checked before anything else. */
  readonly needsToken: boolean;
}

/** Every operation. `core/openapi.ts` describes those of the contract, and `server/operations.ts` performs all of them. */
export const operations = {
  create: { method: "POST", path: "/plants", needsToken: true },
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
