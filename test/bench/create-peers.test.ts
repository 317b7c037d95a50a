import { describe, expect, it } from "vitest";
import { selectByName } from "./create-peers.ts";

const peers = ["bare", "plantstore", "plantstore TLS", "bun"].map((name) => ({ name }));
const select = (...names: string[]): string[] => selectByName(peers, names).map(({ name }) => name);

describe("the selection of peers by name", () => {
  it("selects only the peer with exactly this name", () => {
    expect(select("plantstore")).toEqual(["plantstore"]);
  });

  it("selects every peer whose name begins with the given text", () => {
    expect(select("plant")).toEqual(["plantstore", "plantstore TLS"]);
  });

  it("keeps the order of the peers and selects none twice", () => {
    expect(select("bun", "b")).toEqual(["bare", "bun"]);
  });

  it("rejects a name that selects no peer", () => {
    expect(() => select("deno")).toThrow('unknown peer "deno"');
  });
});
