/** A bulk create has the same results as a create of each record alone. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { RequestError } from "../../../../src/core/errors.ts";
import { readNewPlant } from "../../../../src/core/read-plant.ts";
import { locateError } from "../../../../src/records/json-reader.ts";
import { listAll } from "../../../helpers/all-plants.ts";
import { startServer, type TestServer, testToken } from "../../../helpers/plant-server.ts";
import { runCli } from "../../../helpers/run-cli.ts";

const anyText = fc.string({ unit: "binary", maxLength: 8 });
/** Few of them, so that ids meet, and in all spellings. */
const anyId = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 300 }).map(String) },
  fc.constantFrom("1e2", "2.0", "-0", "10e-1", "9223372036854775807", "9223372036854775808", "1.5"),
  fc.constantFrom('"1"', "null", "[]", "01", "1e999999999", "true"),
);
const anyMember = fc.oneof(
  fc.tuple(fc.constant('"id"'), anyId),
  fc.tuple(
    fc.constantFrom('"name"', '"tag"', '"more"'),
    fc.oneof(
      fc.constantFrom('"a"', '"b"', "null", '"\\ud800"', "{}", "[[]]"),
      anyText.map((text) => JSON.stringify(text)),
    ),
  ),
);
const validPlant = fc
  .record({ id: fc.integer({ min: 0, max: 300 }), name: fc.constantFrom("a", "b") })
  .map((plant) => JSON.stringify(plant));
const anyObject = fc
  .array(anyMember, { minLength: 1, maxLength: 4 })
  .map((members) => `{${members.map((member) => member.join(":")).join(",")}}`);

const lineFeed = 0x0a;

/** A record in which some bytes are others, or missing. */
const brokenRecord = fc
  .tuple(
    fc.oneof(validPlant, anyObject),
    fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.nat(255)), { minLength: 1, maxLength: 3 }),
  )
  .map(([text, changes]) => {
    const bytes = [...Buffer.from(text)];
    for (const [at, removed, inserted] of changes) {
      bytes.splice(at % bytes.length, removed, inserted);
    }
    return Buffer.from(bytes.filter((byte) => byte !== lineFeed));
  });
const anyRecord = fc
  .oneof(
    validPlant.map((text) => Buffer.from(text)),
    anyObject.map((text) => Buffer.from(text)),
    brokenRecord,
  )
  .filter((bytes) => bytes.toString("latin1").replace(/[ \t\r]/g, "") !== "");

/** Returns the result of a record as its line reports it, without record, line and id. */
async function createAlone({ url }: TestServer, body: Buffer, line: number): Promise<object> {
  const headers = { authorization: `Bearer ${testToken}`, "content-type": "application/json" };
  const init = { method: "POST", headers, body: Uint8Array.from(body) };
  const response = await fetch(`${url}/plants`, init);
  const answer = (await response.json()) as { readonly error: number; readonly message: string };
  if (response.status === 400) {
    const rejected = readNewPlant(body);
    // The same message, unless the store rejected the plant.
    if (!(rejected instanceof RequestError)) return { status: "rejected", error: answer };
    expect(rejected).toMatchObject(answer);
    const record = { line, column: 1, bytes: body };
    const { error, message } = locateError(rejected, record, "standard input");
    return { status: "rejected", error: { error, message } };
  }
  return { status: response.headers.get("x-plantstore-result"), plant: answer };
}

/** Every request has another request id; the id is asserted by the store's content. */
function parseLine(line: string): unknown {
  const { requestId: _, id: __, ...rest } = JSON.parse(line) as Record<string, unknown>;
  return rest;
}

it("10,000 random records, valid and broken: each line says what a create of it alone gives", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRecord, { minLength: 1000, maxLength: 1000 }), async (records) => {
      await using together = await startServer();
      await using alone = await startServer();
      // The first one decides that each line is a record.
      const all = [Buffer.from('{"id":1,"name":"a"}'), ...records];
      const expected = [];
      for (const record of all) {
        expected.push(await createAlone(alone, record, expected.length + 1));
      }

      const stdin = Buffer.concat(all.flatMap((record) => [record, Buffer.of(lineFeed)]));
      const { exitCode, stdout } = await runCli(["create", "-"], { server: together, stdin });
      const told = stdout.trimEnd().split("\n");
      expect(exitCode).toBe(8);
      expect(told.map(parseLine)).toEqual(
        expected.map((each, index) => ({ record: index + 1, line: index + 1, ...each })),
      );
      expect(await listAll(together.store)).toEqual(await listAll(alone.store));
    }),
    { numRuns: 10, endOnFailure: true },
  );
}, 600_000);
