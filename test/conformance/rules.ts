/** All rules, in the order of the manual's topic `contract`. */
import { bodyRules } from "./rules/body.ts";
import { credentialRules } from "./rules/credential.ts";
import { errorRules } from "./rules/errors.ts";
import { httpRules } from "./rules/http.ts";
import { interfaceRules } from "./rules/interface-description.ts";
import { otherPathRules } from "./rules/other-paths.ts";
import { sameIdRules } from "./rules/same-id.ts";
import { allOperationsRules } from "./rules/all-operations.ts";
import type { OperationSet } from "../../src/core/contract.ts";
import type { Rule } from "./rule.ts";

/** Every rule that can be tested from outside, for a server with the one operation of the interface description. */
export const rules: readonly Rule[] = [
  ...interfaceRules,
  ...errorRules,
  ...credentialRules,
  ...bodyRules,
  ...sameIdRules,
  ...httpRules,
  ...otherPathRules,
];

/** Returns the rules for a server with a set of operations. */
export function listRules(set: OperationSet): readonly Rule[] {
  if (set === "create") return rules;
  return [...rules.filter((rule) => rule.set !== "create"), ...allOperationsRules];
}
