/** Rules about an id that is created again. */
import { create } from "../../core/examples.ts";
import { createFern, decidedUnder, error, fern, plant, type Rule } from "../rule.ts";

const decided = decidedUnder("The same id again");
const result = (value: string) => ({
  headers: { "X-Plantstore-Result": new RegExp(`^${value}$`) },
});
const tagged = '{"id":$ID,"name":"fern","tag":"pot"}';
const taggedPlant = plant('{"name":"fern","tag":"pot"}');

/** Rules of the section. */
export const sameIdRules: readonly Rule[] = [
  decided(
    "The same plant again gets 200 with the same body",
    { send: create(tagged), receive: taggedPlant },
    { send: create(tagged), receive: taggedPlant },
  ),
  decided(
    "X-Plantstore-Result says whether a plant was created or is unchanged",
    { send: createFern(), receive: plant('{"name":"fern"}', result("created")) },
    { send: createFern(), receive: plant('{"name":"fern"}', result("unchanged")) },
  ),
  decided(
    "Another name gets error 40900, and the stored plant does not change",
    { send: create(tagged), receive: taggedPlant },
    { send: create('{"id":$ID,"name":"moss","tag":"pot"}'), receive: error("idTaken") },
    { send: create(tagged), receive: taggedPlant },
  ),
  decided(
    "Another tag gets error 40900",
    { send: create(tagged), receive: taggedPlant },
    { send: create('{"id":$ID,"name":"fern","tag":"bed"}'), receive: error("idTaken") },
  ),
  decided(
    "A missing tag is another tag than any other, the empty one included",
    { send: createFern(), receive: fern },
    { send: create('{"id":$ID,"name":"fern","tag":""}'), receive: error("idTaken") },
  ),
  decided(
    "A rejected plant is not stored",
    { send: create('{"id":$ID,"name":"moss","tag":null}'), receive: error("tagNotString") },
    { send: createFern(), receive: fern },
  ),
  {
    ...decided(
      "Exactly one of several different plants with one id is created if they arrive together",
      ...["a", "b", "c", "d", "e", "f"].map((name) => ({
        send: create(`{"id":$ID,"name":"${name}"}`),
        receive: plant(`{"name":"${name}"}`, { or: error("idTaken") }),
      })),
    ),
    isRace: true,
  },
];
