/** The trace that this process belongs to (W3C Trace Context, https://www.w3.org/TR/trace-context/). */
import type { Environment } from "./io.ts";

/** Version, trace id, parent id and flags, in lower-case hexadecimal; not ff, and no id of zeros. */
const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns the value of TRACEPARENT; undefined for an invalid one, which the specification says to ignore. */
export function findTraceparent({ TRACEPARENT: value = "" }: Environment): string | undefined {
  return traceparent.test(value) ? value : undefined;
}
