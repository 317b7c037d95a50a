/** The errors of Node for a host with several addresses, if none of them can be reached. */
import { once } from "node:events";
import { connect, type LookupFunction } from "node:net";
import { describe, expect, it } from "vitest";
import { classifyError } from "../../src/client/http-request.ts";
import { findClosedUrl } from "./scripted-server.ts";

const url = "http://plants.example/plants";

/** The error of a connection to addresses that are tried one after the other. */
async function failToConnect(...addresses: readonly string[]): Promise<unknown> {
  const lookup: LookupFunction = (_host, _options, callback) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
  const port = Number(new URL(await findClosedUrl()).port);
  const socket = connect({ host: "plants.example", port, lookup, autoSelectFamily: true });
  const [error] = (await once(socket, "error").catch((cause: unknown) => [cause])) as [unknown];
  return error;
}

it.each([
  ["ECONNRESET", "read ECONNRESET", "lost", "(reset by the server)"],
  ["EPIPE", "write EPIPE", "lost", "(closed by the server)"],
  ["ENETUNREACH", "connect ENETUNREACH 192.0.2.1:80", "lost", "(no route to its network)"],
  ["ENOTFOUND", "getaddrinfo ENOTFOUND plants.example", "unknownHost", "(unknown name)"],
  [
    "EAI_AGAIN",
    "getaddrinfo EAI_AGAIN plants.example",
    "unknownHost",
    "(no name server responded)",
  ],
])("%s is described in words", (code, message, reason, words) => {
  const error = classifyError(Object.assign(new Error(message), { code }), { url });
  expect(error).toMatchObject({ reason, message: expect.stringContaining(words) });
});

describe("a host with several addresses", () => {
  it("refused the connection if one address refused it, whatever error the first one has", async () => {
    // The first address is for documentation (RFC 3849): no host has it.
    const error = await failToConnect("2001:db8::1", "127.0.0.1");
    expect(error).toBeInstanceOf(AggregateError);
    expect(classifyError(error, { url })).toMatchObject({
      reason: "refused",
      message: "cannot connect to http://plants.example: connection refused",
      cause: { code: "ECONNREFUSED" },
    });
  });

  it("has the error of the last address if no address refused the connection", () => {
    const causes = ["ENETUNREACH", "EHOSTUNREACH"].map((code) =>
      Object.assign(new Error(`connect ${code}`), { code }),
    );
    const error = Object.assign(new AggregateError(causes, "all failed"), { code: "ENETUNREACH" });
    expect(classifyError(error, { url })).toMatchObject({
      reason: "lost",
      detail: "no route to the host",
    });
  });
});
