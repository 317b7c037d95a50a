/** The plants of the load, which checkPlants compares with the store. wrk.lua writes the same plants. */

/** Sequential ids fill the last page of an index; random ids change any of its pages. */
export type IdOrder = "sequential" | "random";

const multiplier = 0x9e37_79b9_7f4a_7c15n;
const idRange = 1n << 62n;

/** The id of the nth request, n from 1 on; no two requests have the same. */
export function toId(n: number, order: IdOrder): bigint {
  return order === "sequential" ? BigInt(n) : (BigInt(n) * multiplier) % idRange;
}

/** The name of the nth request's plant. */
export function toName(n: number): string {
  return `plant ${n}`;
}

/** The address of the nth request's client, in a private network. */
export function toAddress(n: number): string {
  return `10.${Math.floor(n / 65536) % 256}.${Math.floor(n / 256) % 256}.${n % 256}`;
}

/** The tag of every plant. */
export const tag = "bench";

/** The body of the nth request. */
export function toBody(n: number, order: IdOrder): string {
  return `{"id":${toId(n, order)},"name":"${toName(n)}","tag":"${tag}"}`;
}
