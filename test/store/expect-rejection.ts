import { expect } from "vitest";
import type { StoreErrorReason } from "../../src/core/store.ts";

/** Expects a StoreError with a message that contains a text or matches a pattern. */
export async function expectRejection(
  call: Promise<unknown>,
  reason: StoreErrorReason,
  message: string | RegExp,
): Promise<void> {
  const text =
    typeof message === "string" ? expect.stringContaining(message) : expect.stringMatching(message);
  await expect(call).rejects.toMatchObject({ name: "StoreError", reason, message: text });
}
