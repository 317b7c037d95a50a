/** Converts rows of the tables, and the values in them. */
import type { NewPlant } from "../../core/plant.ts";
import type { TokenRecord } from "../../core/store.ts";
import type { PlantRow, TokenRow } from "./statements.ts";
import { fromSqlText } from "./text.ts";

/** Converts a row of a plant. */
export function toPlant(id: bigint, { name, tag }: PlantRow): NewPlant {
  const plant = { id, name: fromSqlText(name) };
  return tag === null ? plant : { ...plant, tag: fromSqlText(tag) };
}

/** Converts a row of a token. */
export function toToken(row: TokenRow): TokenRecord {
  return {
    digest: fromSqlText(row.digest),
    prefix: fromSqlText(row.prefix),
    name: fromSqlText(row.name),
    issuedAtMs: Number(row.issued_at),
    expiresAtMs: fromSqlInteger(row.expires_at),
    revokedAtMs: fromSqlInteger(row.revoked_at),
    lastUsedDay: fromSqlInteger(row.last_used_day),
  };
}

/** Converts an integer for a column that may be NULL. */
export function toSqlInteger(value: number | undefined): bigint | null {
  return value === undefined ? null : BigInt(value);
}

function fromSqlInteger(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
