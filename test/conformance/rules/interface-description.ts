/** Rules of the interface description, which every implementation has to keep. */
import { create } from "../request-template.ts";
import { int64Max, int64Min } from "../../../src/core/plant.ts";
import { createFern, error, failure, fern, plant, type Rule, rulesUnder } from "../rule.ts";

const rule = rulesUnder("Given");

/** Rules of the section. */
export const interfaceRules: readonly Rule[] = [
  rule("A plant with a name gets 200 and a Plant without an id", {
    send: createFern(),
    receive: fern,
  }),
  rule("A plant with a name and a tag gets both back", {
    send: create('{"id":$ID,"name":"monstera","tag":"pot"}'),
    receive: plant('{"name":"monstera","tag":"pot"}'),
  }),
  rule("An empty name and an empty tag are strings", {
    send: create('{"id":$ID,"name":"","tag":""}'),
    receive: plant('{"name":"","tag":""}'),
  }),
  rule("Names and tags in any script come back as they were sent", {
    send: create('{"id":$ID,"name":"mönstera 龜背 🌿","tag":"растение"}'),
    receive: plant('{"name":"mönstera 龜背 🌿","tag":"растение"}'),
  }),
  rule("Capital and small letters in a name and a tag come back as they were sent", {
    send: create('{"id":$ID,"name":"Monstera DELICIOSA","tag":"In a Pot"}'),
    receive: plant('{"name":"Monstera DELICIOSA","tag":"In a Pot"}'),
  }),
  rule("White space in a name and a tag comes back as it was sent", {
    send: create(String.raw`{"id":$ID,"name":" \t fern  \u00a0\n","tag":"  "}`),
    receive: plant(String.raw`{"name":" \t fern  \u00a0\n","tag":"  "}`),
  }),
  rule("Escaped characters in a name come back as the same characters", {
    send: create(String.raw`{"id":$ID,"name":"\"\\\/\b\f\n\r\t\u00f6\ud83c\udf3f"}`),
    receive: plant(String.raw`{"name":"\"\\\/\b\f\n\r\t\u00f6\ud83c\udf3f"}`),
  }),
  rule("The members of a plant may have any order, with white space around them", {
    send: create(' {"tag" : "pot",\r\n\t"name" : "fern", "id" : $ID } '),
    receive: plant('{"name":"fern","tag":"pot"}'),
  }),
  rule("A negative id is accepted", {
    send: create('{"id":-$ID,"name":"fern"}'),
    receive: fern,
  }),
  rule("An id of 64 bits is accepted", {
    send: create('{"id":$BIG,"name":"fern"}'),
    receive: fern,
  }),
  // These ids are the same in each run, and may belong to a plant of the operator.
  rule(
    "The largest and the smallest id of 64 bits are accepted",
    {
      send: create(`{"id":${int64Max},"name":"plantstore conform"}`),
      receive: plant('{"name":"plantstore conform"}', { or: error("idTaken") }),
    },
    {
      send: create(`{"id":${int64Min},"name":"plantstore conform"}`),
      receive: plant('{"name":"plantstore conform"}', { or: error("idTaken") }),
    },
  ),
  rule("Two ids of 64 bits that differ by one belong to two plants", {
    send: [create('{"id":$BIG,"name":"even"}'), create('{"id":$BIG_1,"name":"odd"}')],
    receive: [plant('{"name":"even"}'), plant('{"name":"odd"}')],
  }),
  ...(
    [
      ["An id above 64 bits", `{"id":${int64Max + 1n},"name":"fern"}`],
      ["An id below 64 bits", `{"id":${int64Min - 1n},"name":"fern"}`],
      ["A plant without an id", '{"name":"fern"}'],
      ["An id that is a string", '{"id":"$ID","name":"fern"}'],
      ["An id with a fraction", '{"id":$ID.5,"name":"fern"}'],
      ["An id of null", '{"id":null,"name":"fern"}'],
      ["A plant without a name", '{"id":$ID}'],
      ["A name that is a number", '{"id":$ID,"name":7}'],
      ["A name of null", '{"id":$ID,"name":null}'],
      ["A tag that is a number", '{"id":$ID,"name":"fern","tag":7}'],
      ["A tag of null", '{"id":$ID,"name":"fern","tag":null}'],
      ["A body that is an array", "[]"],
      ["A body that is not JSON", `{"id":$ID,"name":'fern'}`],
      ["A body that ends early", '{"id":$ID,"name":"fern"'],
      ["An empty body", ""],
    ] as const
  ).map(([what, body]) =>
    rule(`${what} gets 400 and an Error`, { send: create(body), receive: failure() }),
  ),
  rule("A request without a credential gets 400 and an Error", {
    send: createFern({ Authorization: undefined }),
    receive: failure(),
  }),
  rule("A credential of another scheme gets 400 and an Error", {
    send: createFern({ Authorization: "Basic cGxhbnQ6c3RvcmU=" }),
    receive: failure(),
  }),
  rule("An unknown token gets 400 and an Error", {
    send: createFern({ Authorization: "Bearer unknown" }),
    receive: failure(),
  }),
];
