/** Finds the risks of a server that its operator is warned about at the start. */
import { isLoopback } from "../../../core/base-url.ts";
import type { FaultOptions } from "../../../server/faults.ts";
import { serveOptions } from "../../store-options.ts";
import type { FirstToken } from "./first-token.ts";
import type { ServeOptions } from "./serve-options.ts";

/** Shorter tokens can be guessed: 16 characters of base64 have 96 bits. */
const minTokenLength = 16;

/**
 * Finds the risks.
 *
 * @param host undefined for a Unix socket
 * @param isShown whether the user sees an issued token
 */
export function findRisks(
  host: string | undefined,
  token: FirstToken,
  options: ServeOptions,
  isShown: boolean,
): readonly string[] {
  const { tls, isVolatile, environmentToken, faults } = options;
  const risks = [];
  const isLocal = host === undefined || isLoopback(host);
  if (tls === undefined && !isLocal) {
    risks.push(
      `tokens arrive at ${host} unencrypted; set --tls-cert and --tls-key on untrusted networks`,
    );
  }
  if (token.kind === "none" && isVolatile) {
    risks.push("no token is configured, so every request will be rejected: set PLANTSTORE_TOKEN");
  }
  if (token.kind === "issued" && token.saved === "never" && !options.json && !isShown) {
    risks.push(
      "no client knows the token of this server: print it with --json, or set PLANTSTORE_TOKEN",
    );
  }
  if (environmentToken !== undefined && environmentToken.length < minTokenLength) {
    risks.push(
      `the token in PLANTSTORE_TOKEN has fewer than ${minTokenLength} characters and can be guessed: set a longer one, for example from "openssl rand -hex 32"`,
    );
  }
  if (faults !== undefined) risks.push(...describeFaults(faults));
  return risks;
}

function describeFaults(faults: FaultOptions): readonly string[] {
  const list = serveOptions.faults.type.format(faults);
  const warning = `faults are on for tests of clients: --faults "${list}"`;
  if (faults.dropRate === 0) return [warning];
  return [
    warning,
    "drop closes connections after a plant is stored, so the contract's one response for each request does not hold",
  ];
}
