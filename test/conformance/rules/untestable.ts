/** Rules that no client can test. */
import { errorRequests } from "../error-requests.ts";
import { errorKinds, errorTable } from "../../../src/core/errors.ts";

/** A rule that only the server's own tests can check. */
export interface UntestableRule {
  readonly name: string;
  /** Heading in the topic `contract` of the manual. */
  readonly heading: string;
  readonly reason: string;
}

/** The rules, with the reason for each. */
export const untestableRules: readonly UntestableRule[] = [
  ...errorKinds.flatMap((kind) => {
    const { error, when } = errorTable[kind];
    const request = errorRequests[kind];
    if (!("untestable" in request)) return [];
    const name = `Error ${error}: ${when}`;
    return [{ name, heading: "Status and error numbers", reason: request.untestable }];
  }),
  {
    name: "A revoked token gets error 40102 within one second",
    heading: "Credential",
    reason: "only the owner of the store can revoke a token",
  },
  {
    name: "A plant with a 200 survives a power failure",
    heading: "Durability",
    reason: "only the server's machine can lose its power",
  },
  {
    name: "An idle connection stays open as long as the Keep-Alive header says",
    heading: "HTTP",
    reason: "the time may be hours, and a full server may close idle connections earlier",
  },
  {
    name: "At most 32 requests of a connection are in flight",
    heading: "HTTP",
    reason: "the number in flight depends on how fast the store commits",
  },
];
