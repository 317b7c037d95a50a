/** The interface that a plant store implements (contract.md "Given"), and an additional header. */

/** Title and version of the interface, in OpenAPI and in `plantstore --version`. */
export const plantStoreInterface = { title: "plant store", version: "1.0.0" } as const;

/** Header of a create that only checks a token. The server logs its rejection at level `debug`, unless the token was rejected. */
export const tokenCheckHeader = "x-plantstore-probe";
