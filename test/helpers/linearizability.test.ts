/** The checker of histories accepts those that some order explains, and finds one changed result. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CreateOutcome,
  type DeleteOutcome,
  isLinearizable,
  type Operation,
  type Policy,
} from "./linearizability.ts";

function create(start: number, end: number, value: string, result: CreateOutcome): Operation {
  return { kind: "create", start, end, value, result };
}

function remove(start: number, end: number, result: DeleteOutcome): Operation {
  return { kind: "delete", start, end, result };
}

function read(start: number, end: number, value: string | undefined): Operation {
  return { kind: "read", start, end, value };
}

/** The policy of the server that a history is about. */
function findPolicy(history: readonly Operation[]): Policy {
  const isReplaced = (each: Operation) => each.kind === "create" && each.result === "replaced";
  return history.some(isReplaced) ? "replace" : "reject";
}

describe("a history is linearizable", () => {
  it.each<[what: string, history: Operation[]]>([
    ["without operations", []],
    [
      "if it took effect late",
      [create(1, 2, "a", "unknown"), read(3, 4, undefined), create(5, 6, "a", "unchanged")],
    ],
    [
      "if it took no effect",
      [create(1, 2, "a", "unknown"), create(3, 4, "b", "created"), read(5, 6, "b")],
    ],
    [
      "if a delete without a response took effect late",
      [
        create(1, 2, "a", "created"),
        remove(3, 4, "unknown"),
        read(5, 6, "a"),
        create(7, 8, "b", "created"),
      ],
    ],
  ])("%s", (_what, history) => {
    expect(isLinearizable(history, findPolicy(history))).toBe(true);
  });

  it.each<[what: string, history: Operation[]]>([
    [
      "not if both of two creates at once succeed",
      [create(1, 4, "a", "created"), create(2, 3, "b", "created")],
    ],
    [
      "not if a read has a value that no client sent",
      [create(1, 2, "a", "created"), read(3, 4, "b")],
    ],
    [
      "not if a create took effect before it began",
      [read(1, 2, "a"), create(3, 4, "a", "unknown")],
    ],
    [
      "not if a create without a response took effect and then did not",
      [create(1, 2, "a", "unknown"), read(3, 4, "a"), read(5, 6, undefined)],
    ],
    [
      "not if two clients replace by the same value",
      [create(1, 2, "a", "created"), create(3, 6, "b", "replaced"), create(4, 5, "b", "replaced")],
    ],
    [
      "not if a plant is deleted twice",
      [create(1, 2, "a", "created"), remove(3, 6, "deleted"), remove(4, 5, "deleted")],
    ],
    [
      "not if a create that was repeated after a delete took effect twice",
      [create(1, 9, "a", "created"), remove(3, 4, "deleted"), read(10, 11, "a")],
    ],
    [
      "not if a replaced value returns",
      [create(1, 2, "a", "created"), create(3, 4, "b", "replaced"), read(5, 6, "a")],
    ],
  ])("%s", (_what, history) => {
    expect(isLinearizable(history, findPolicy(history))).toBe(false);
  });
});

/** Carries out creates and reads in an order, and returns their history. Each may have run longer than it took. */
function simulate(
  steps: readonly {
    readonly value: string;
    readonly kind: Operation["kind"];
    readonly early: number;
    readonly late: number;
  }[],
  policy: Policy,
): Operation[] {
  let stored: string | undefined;
  return steps.map(({ value, kind, early, late }, index) => {
    const [start, end] = [index - early, index + late];
    if (kind === "read") return read(start, end, stored);
    if (kind === "delete") {
      const deleted = stored === undefined ? "absent" : "deleted";
      stored = undefined;
      return remove(start, end, deleted);
    }
    const other = policy === "replace" ? "replaced" : "conflict";
    const result = stored === undefined ? "created" : stored === value ? "unchanged" : other;
    if (result !== "conflict") stored = value;
    return create(start, end, value, result);
  });
}

const anyPolicy = fc.constantFrom<Policy>("reject", "replace");
const anySteps = (longest: number) =>
  fc.array(
    fc.record({
      value: fc.constantFrom("a", "b", "c"),
      kind: fc.constantFrom<Operation["kind"]>("create", "create", "delete", "read", "read"),
      early: fc.double({ min: 0, max: longest, noNaN: true }),
      late: fc.double({ min: 0, max: longest, noNaN: true }),
    }),
    { minLength: 1, maxLength: 40 },
  );

describe("the checker", () => {
  it("accepts every history of overlapping operations that took effect in some order", () => {
    fc.assert(
      fc.property(anySteps(4), anyPolicy, (steps, policy) => {
        expect(isLinearizable(simulate(steps, policy), policy)).toBe(true);
      }),
    );
  });

  it("accepts it if any responses were lost", () => {
    fc.assert(
      fc.property(anySteps(3), anyPolicy, fc.infiniteStream(fc.nat(9)), (steps, policy, lost) => {
        const history = simulate(steps, policy).map((operation): Operation => {
          const isLost = operation.kind !== "read" && lost.next().value === 0;
          return isLost ? { ...operation, result: "unknown" } : operation;
        });
        expect(isLinearizable(history, policy)).toBe(true);
      }),
    );
  });

  it("finds one changed result in any history of operations one after the other", () => {
    const results = ["created", "unchanged", "replaced", "conflict"] as const;
    fc.assert(
      fc.property(anySteps(0.4), anyPolicy, fc.nat(), fc.nat(2), (steps, policy, at, change) => {
        const history = simulate(steps, policy);
        const index = at % history.length;
        const operation = history[index] as Operation;
        history[index] =
          operation.kind === "read"
            ? { ...operation, value: operation.value === undefined ? "a" : undefined }
            : operation.kind === "delete"
              ? { ...operation, result: operation.result === "absent" ? "deleted" : "absent" }
              : {
                  ...operation,
                  result:
                    results.filter((result) => result !== operation.result)[change] ?? "created",
                };
        expect(isLinearizable(history, policy)).toBe(false);
      }),
    );
  });
});
