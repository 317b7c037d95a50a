/**
 * Checks whether the history of an id is linearizable. Its operations then have an order that explains every result. No
 * operation takes effect before its start or after its end.
 */

/**
 * Result of a create; `unknown` if no response says it, so that it may take effect at any time after its start, or never.
 */
export type CreateOutcome = "created" | "unchanged" | "replaced" | "conflict" | "unknown";

/** Result of a delete; `unknown` as that of a create. */
export type DeleteOutcome = "deleted" | "absent" | "unknown";

/** An operation on one id. Times are of one clock. */
export type Operation = { readonly start: number; readonly end: number } & (
  | { readonly kind: "create"; readonly value: string; readonly result: CreateOutcome }
  | { readonly kind: "delete"; readonly result: DeleteOutcome }
  /** The value is undefined if the id had no plant. */
  | { readonly kind: "read"; readonly value: string | undefined }
);

/** Policy for an id that has another value. */
export type Policy = "reject" | "replace";

/** Applies an operation to the value of the id. @returns the value after it; `false` if it cannot have this result */
function apply(
  operation: Operation,
  stored: string | undefined,
  policy: Policy,
): string | undefined | false {
  if (operation.kind === "read") return operation.value === stored && stored;
  if (operation.kind === "delete") {
    const expected = stored === undefined ? "absent" : "deleted";
    return operation.result === "unknown" || operation.result === expected ? undefined : false;
  }
  const { value, result } = operation;
  const other = policy === "replace" ? "replaced" : "conflict";
  const expected = stored === undefined ? "created" : stored === value ? "unchanged" : other;
  if (result !== "unknown" && result !== expected) return false;
  return expected === "conflict" ? stored : value;
}

/** Checks a history of one id, which had no plant before it. Wing and Gong's search, with a memory of the states that it left. */
export function isLinearizable(history: readonly Operation[], policy: Policy): boolean {
  const operations = history
    .map((operation) => ({
      operation,
      end: isUnknown(operation) ? Infinity : operation.end,
    }))
    .toSorted((a, b) => a.operation.start - b.operation.start);
  const visited = new Set<string>();

  function search(done: bigint, stored: string | undefined): boolean {
    const state = `${done} ${stored}`;
    if (visited.has(state)) return false;
    visited.add(state);
    const open = operations.flatMap(({ operation, end }, index) =>
      (done >> BigInt(index)) & 1n ? [] : [{ operation, end, bit: 1n << BigInt(index) }],
    );
    if (open.every(({ operation }) => isUnknown(operation))) return true;
    const firstEnd = Math.min(...open.map(({ end }) => end));
    // Changes with an unknown result come last, and only where they change the value: they may also take effect later.
    return open
      .toSorted((a, b) => Number(isUnknown(a.operation)) - Number(isUnknown(b.operation)))
      .some(({ operation, bit }) => {
        if (operation.start > firstEnd) return false;
        const after = apply(operation, stored, policy);
        if (after === false || (isUnknown(operation) && after === stored)) return false;
        return search(done | bit, after);
      });
  }

  return search(0n, undefined);
}

function isUnknown(operation: Operation): boolean {
  return operation.kind !== "read" && operation.result === "unknown";
}
