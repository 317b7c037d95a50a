/** The interface description is valid for Redocly. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, it } from "vitest";
import { createOpenApiDocument, toOpenApiJson } from "../../src/core/openapi.ts";

it.each([
  ["contract", "create"],
  ["http", "create"],
  ["contract", "all"],
  ["http", "all"],
] as const)(
  "with the status mode %s and the operations %s, it breaks none of the rules that Redocly recommends",
  async (statusMode, operations) => {
    const source = toOpenApiJson(
      createOpenApiDocument({
        url: "https://plants.example.org/v1",
        maxBodyBytes: 1024,
        onConflict: "reject",
        statusMode,
        operations,
      }),
    );
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source, absoluteRef: "/openapi.json", config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  },
);
