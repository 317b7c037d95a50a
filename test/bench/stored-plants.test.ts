import { describe, expect, it } from "vitest";
import { tag, toId, toName } from "./requests.ts";
import { checkPlants, type StoredPlant } from "./stored-plants.ts";

const toPlants = (count: number): StoredPlant[] =>
  Array.from({ length: count }, (_, index) => toPlant(index + 1));

function toPlant(n: number): StoredPlant {
  return { id: toId(n, "random"), name: toName(n), tag };
}

describe("a run of the benchmark is a result only when its store", () => {
  it.each([
    ["holds what was acknowledged", 4, 4],
    ["holds what was under way at the end as well", 4, 3],
  ])("%s", (_, sent, acknowledged) => {
    expect(() => checkPlants(toPlants(4), sent, acknowledged, "random")).not.toThrow();
  });

  it.each([
    ["lacks nothing that was acknowledged", toPlants(3), 4, 4],
    ["has no more than was sent", toPlants(4), 3, 3],
    ["has no plant twice", [...toPlants(3), toPlant(3), toPlant(3)], 4, 4],
    ["has no other name", [{ ...toPlant(1), name: "plant 2" }], 2, 1],
    ["has no other tag", [{ ...toPlant(1), tag: null }], 1, 1],
    ["has no other id", [{ ...toPlant(1), id: toId(2, "random") }], 2, 1],
    ["has no name of its own", [{ ...toPlant(1), name: "fern" }], 1, 1],
  ])("%s", (_, plants, sent, acknowledged) => {
    expect(() => checkPlants(plants, sent, acknowledged, "random")).toThrow(/the store/);
  });
});
