/** What users see of a token that allows only some operations. */
import { expect, it, onTestFinished } from "vitest";
import { digestToken, mintToken } from "../../src/auth/authenticator.ts";
import type { ContractOperationId } from "../../src/core/contract.ts";
import { startServer } from "../helpers/plant-server.ts";
import { containing, runCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

/** Starts a server with all operations, and a token that allows one of them. */
async function startWithToken(operation: ContractOperationId) {
  const server = await startServer({ operations: "all" });
  onTestFinished(() => server.close());
  const token = mintToken();
  const record = { digest: digestToken(token), prefix: token.slice(0, 8), name: "", issuedAtMs: 0 };
  await server.store.addToken({ ...record, allow: [operation] });
  return { url: server.url, token };
}

it.each<[command: string, operation: ContractOperationId, needed: ContractOperationId]>([
  ["create --id 1 --name fern", "list", "create"],
  ["list", "create", "list"],
  ["get 1", "create", "list"],
  ["export", "delete", "list"],
  ["delete 1 --yes", "create", "delete"],
])(
  "%s with a token for %s is exit 4, and names the command that issues one for it",
  async (line, operation, needed) => {
    const { url, token } = await startWithToken(operation);
    const env = { PLANTSTORE_TOKEN: token };
    const { exitCode, stderr } = await runCli([...line.split(" "), "--url", url], { env });
    expect(exitCode).toBe(4);
    expect(stderr).toContain(`error 40300: this token may not ${needed} plants: use another one`);
    expect(stderr).toContain("the token came from PLANTSTORE_TOKEN");
    expect(stderr).toContain(
      `Issue a token that may, on the machine of the store:\n  plantstore token issue --allow ${needed}\n`,
    );
    expect(stderr).not.toContain("login");
  },
);

it("status and login accept it, and say that it may not create plants", async () => {
  const { url, token } = await startWithToken("list");
  const env = { PLANTSTORE_TOKEN: token };
  const status = await runCli(["status", "--url", url], { env });
  expect(status.stdout).toContain("accepted, but may not create plants");
  const home = await createTemporaryDirectory();
  const login = await runCli(["login", "--url", url], { home, stdin: `${token}\n` });
  expect(login).toExit(0, containing("warning: the token may not create plants\n"));
});
