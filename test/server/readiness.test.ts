/** A server is ready only while creates with an issued token can succeed. */
import { expect, it, onTestFinished } from "vitest";
import { createAuthenticator } from "../../src/auth/authenticator.ts";
import { openStore } from "../../src/store/open-store.ts";
import { startServer } from "../helpers/plant-server.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";
import { change } from "../helpers/stored-plants.ts";

it.each([
  ["no token can be read", "ALTER TABLE tokens RENAME TO other"],
  ["plants have other columns", "ALTER TABLE plants RENAME COLUMN tag TO label"],
])("is not ready while %s", async (_, sql) => {
  const url = await createSqliteStore([{ id: 0n, name: "fern" }]);
  const store = await openStore(url);
  onTestFinished(() => store.close());
  await using server = await startServer({ store, authenticator: createAuthenticator(store) });
  await change(url.replace("sqlite:", ""), sql);
  const response = await server.fetch(new Request(new URL("/readyz", server.url)));
  expect(response.status).toBe(503);
});
