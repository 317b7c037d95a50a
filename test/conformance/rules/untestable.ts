/** Rules that no client can test. */
import type { ErrorKind } from "../../../src/core/errors.ts";

/** A rule that only the server's own tests can check. */
export interface UntestableRule {
  /** The error, if the rule is about one. */
  readonly error?: ErrorKind;
  readonly name: string;
  /** Heading in the topic `contract` of the manual. */
  readonly heading: string;
  readonly reason: string;
}

const status = "Status and error numbers";

/** The rules, with the reason for each. */
export const untestableRules: readonly UntestableRule[] = [
  {
    error: "expiredToken",
    name: "An expired token gets error 40103",
    heading: status,
    reason: "only the owner of the store can issue a token that expires",
  },
  {
    error: "requestTimeout",
    name: "A request that takes too long to arrive gets error 40800",
    heading: status,
    reason: "each server has its own limit, which may be hours",
  },
  {
    error: "unexpected",
    name: "An unexpected failure gets error 50000",
    heading: status,
    reason: "a request that causes one would be a bug",
  },
  {
    error: "shuttingDown",
    name: "A create gets error 50300 while the server stops",
    heading: status,
    reason: "only the owner of the server can stop it",
  },
  {
    error: "overloaded",
    name: "An overloaded server responds with error 50301",
    heading: status,
    reason: "the load would harm other clients, and its limits are unknown",
  },
  {
    error: "storageFull",
    name: "A create gets error 50700 while the storage is full",
    heading: status,
    reason: "only the server's machine can fill its storage",
  },
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
