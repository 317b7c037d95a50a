/** The interface that a plant store implements (contract.md "Given"), and two additional headers. */

/** Title and version of the interface, in OpenAPI and in `plantstore --version`. */
export const plantStoreInterface = { title: "plant store", version: "1.0.0" } as const;

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
