/** Logins of several processes at the same time. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { readSavedToken } from "../helpers/credentials.ts";
import { readSavedSettings } from "../../src/cli/config/saved-settings.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { runBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

it("logins at the same time save each token, and one of the plant stores becomes the default", async () => {
  const home = await createTemporaryDirectory();
  await using first = await startServer();
  await using second = await startServer();
  await using third = await startServer();
  const urls = [first, second, third].map(({ url }) => url);
  const logins = urls.map((url) => runBinary(["login", "--url", url], { home, stdin: testToken }));
  const codes = (await Promise.all(logins)).map(({ code }) => code);
  expect(codes).toEqual([0, 0, 0]);
  const directory = join(home, ".config/plantstore");
  const tokens = urls.map((url) => readSavedToken(directory, url));
  expect(tokens).toEqual([testToken, testToken, testToken]);
  expect(urls).toContain(readSavedSettings(directory).login);
});
