/** The interface description is valid for Redocly. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, it } from "vitest";
import { createOpenApiDocument, toOpenApiJson } from "../../src/core/openapi.ts";

it.each(["contract", "http"] as const)(
  "with the status mode %s, it breaks none of the rules that Redocly recommends",
  async (statusMode) => {
    const source = toOpenApiJson(
      createOpenApiDocument({
        url: "https://plants.example.org/v1",
        maxBodyBytes: 1024,
        onConflict: "reject",
        statusMode,
      }),
    );
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source, absoluteRef: "/openapi.json", config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  },
);
