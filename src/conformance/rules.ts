/** All rules, in the order of the manual's topic `contract`. */
import { bodyRules } from "./decided/body.ts";
import { credentialRules } from "./decided/credential.ts";
import { errorRules } from "./decided/errors.ts";
import { httpRules } from "./decided/http.ts";
import { otherPathRules } from "./decided/other-paths.ts";
import { sameIdRules } from "./decided/same-id.ts";
import { givenRules } from "./given.ts";
import type { Rule } from "./rule.ts";

/** Every rule that can be tested from outside. */
export const rules: readonly Rule[] = [
  ...givenRules,
  ...errorRules,
  ...credentialRules,
  ...bodyRules,
  ...sameIdRules,
  ...httpRules,
  ...otherPathRules,
];
