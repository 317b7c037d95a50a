/** Rules about the operational paths, which need no token and stay at the root. */
import { type ExpectedResponse, get, rulesUnder, type Rule } from "../rule.ts";

const rule = rulesUnder("Other paths");
const ok = { status: 200, headers: { "Content-Type": /^application\/json\b/i } } as const;

const paths: readonly (readonly [path: string, expected: ExpectedResponse])[] = [
  ["/healthz", ok],
  ["/readyz", ok],
  ["/openapi.json", { ...ok, contains: /"openapi"\s*:\s*"3\.1\./ }],
];

/** Rules of the section. */
export const otherPathRules: readonly Rule[] = paths.flatMap(([path, expected]) => [
  rule(`GET ${path} has status 200 without a token`, { send: get(path), receive: expected }),
  rule(`HEAD ${path} has the status of GET and no body`, {
    send: [get(path, "HEAD"), get(path)],
    receive: [{ ...ok, isBodiless: true }, expected],
  }),
]);
