/** How the tests run: every *.test.ts below test/, on real sockets, files and processes. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    expect: { requireAssertions: true },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
