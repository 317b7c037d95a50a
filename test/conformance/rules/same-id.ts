/** Rules about an id that is created again. */
import { create } from "../request-template.ts";
import { createFern, rulesUnder, error, fern, plant, type Rule } from "../rule.ts";

const rule = rulesUnder("The same id again");
const result = (value: string) => ({
  headers: { "X-Plantstore-Result": new RegExp(`^${value}$`) },
});
const tagged = '{"id":$ID,"name":"fern","tag":"pot"}';
const taggedPlant = plant('{"name":"fern","tag":"pot"}');

/** Rules of the section. */
export const sameIdRules: readonly Rule[] = [
  rule(
    "The same plant again gets 200 with the same body",
    { send: create(tagged), receive: taggedPlant },
    { send: create(tagged), receive: taggedPlant },
  ),
  rule(
    "X-Plantstore-Result says whether a plant was created or is unchanged",
    { send: createFern(), receive: plant('{"name":"fern"}', result("created")) },
    { send: createFern(), receive: plant('{"name":"fern"}', result("unchanged")) },
  ),
  rule(
    "Another name gets error 40900, and the stored plant does not change",
    { send: create(tagged), receive: taggedPlant },
    { send: create('{"id":$ID,"name":"moss","tag":"pot"}'), receive: error("idTaken") },
    { send: create(tagged), receive: taggedPlant },
  ),
  rule(
    "Another tag gets error 40900",
    { send: create(tagged), receive: taggedPlant },
    { send: create('{"id":$ID,"name":"fern","tag":"bed"}'), receive: error("idTaken") },
  ),
  rule(
    "A missing tag is another tag than any other, the empty one included",
    { send: createFern(), receive: fern },
    { send: create('{"id":$ID,"name":"fern","tag":""}'), receive: error("idTaken") },
  ),
  ...(
    [
      ["Names that differ only in case", '"name":"Fern"', '"name":"fERN"'],
      ["Names that differ only in white space", '"name":"fern"', '"name":"fern "'],
      ["Tags that differ only in case", '"name":"fern","tag":"Pot"', '"name":"fern","tag":"pOT"'],
      [
        "Tags that differ only in white space",
        '"name":"fern","tag":"pot"',
        '"name":"fern","tag":" pot"',
      ],
    ] as const
  ).map(([what, first, second]) =>
    rule(
      `${what} belong to different plants`,
      { send: create(`{"id":$ID,${first}}`), receive: plant(`{${first}}`) },
      { send: create(`{"id":$ID,${second}}`), receive: error("idTaken") },
    ),
  ),
  rule(
    "A rejected plant is not stored",
    { send: create('{"id":$ID,"name":"moss","tag":null}'), receive: error("tagNotString") },
    { send: createFern(), receive: fern },
  ),
  {
    ...rule(
      "Exactly one of several different plants with one id is created if they arrive together",
      ...["a", "b", "c", "d", "e", "f"].map((name) => ({
        send: create(`{"id":$ID,"name":"${name}"}`),
        receive: plant(`{"name":"${name}"}`, { or: error("idTaken") }),
      })),
    ),
    isRace: true,
  },
];
