/** Which interface a plant store implements: what its description says of itself (CONTRACT part 1). */

/** The interface, as OpenAPI and `plantstore --version` name it. */
export const plantStoreInterface = { title: "plant store", version: "1.0.0" } as const;
