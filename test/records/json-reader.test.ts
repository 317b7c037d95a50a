import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRecordReader } from "../../src/records/json-reader.ts";
import { InputSyntaxError, type PlantRecord } from "../../src/records/record-reader.ts";

const createReader = (maxBytes = 1024 * 1024, path = "plants") =>
  createRecordReader({ path, maxBytes });
const byteOrderMark = "\uFEFF";

/** Reads an input in pieces of the given sizes, repeated as often as necessary. */
function readInput(
  input: string,
  pieceSizes: readonly number[] = [input.length + 9],
  reader = createReader(),
) {
  const bytes = Buffer.from(input);
  const records: PlantRecord[] = [];
  let error: unknown;
  try {
    for (let at = 0, piece = 0; at < bytes.length; piece++) {
      const size = pieceSizes[piece % pieceSizes.length] ?? 1;
      for (const record of reader.push(bytes.subarray(at, at + size))) records.push(record);
      at += size;
    }
    for (const record of reader.end()) records.push(record);
  } catch (thrown) {
    error = thrown;
  }
  return { records, reader, error };
}

/** Returns the line of each record, and its text. */
function recordsOf(input: string, pieceSizes?: readonly number[]) {
  const { records, error } = readInput(input, pieceSizes);
  expect(error).toBeUndefined();
  return {
    lines: records.map(({ line }) => line),
    texts: records.map(({ bytes }) => Buffer.from(bytes).toString()),
  };
}

function expectRecords(input: string, lines: readonly number[], texts: readonly string[]): void {
  expect(recordsOf(input)).toEqual({ lines, texts });
  expect(recordsOf(input, [1]), "byte by byte").toEqual({ lines, texts });
}

const errorOf = ({ content: { plant } }: PlantRecord): number | undefined =>
  "message" in plant ? plant.error : undefined;

const a = '{"id":1,"name":"a"}';
const b = '{"id":2,"name":"{b]\\"}"}';
const c = '{"id":3,"name":"c","more":[{},{"x":[]}]}';
const prettyA = '{\n  "id": 1,\n  "name": "a"\n}';
const prettyC = '{\n  "id": 3,\n  "more": [\n    {\n      "x": []\n    }\n  ]\n}';

describe("the records of", () => {
  it.each<[what: string, input: string, lines: number[], texts: string[]]>([
    ["nothing", "", [], []],
    ["blanks", " \r\n\t\n", [], []],
    ["an object", a, [1], [a]],
    ["an object on lines", `${prettyA}\n`, [1], [prettyA]],
    ["lines", `${a}\n${b}\n${c}\n`, [1, 2, 3], [a, b, c]],
    ["lines without an end", `${a}\n${b}`, [1, 2], [a, b]],
    ["lines with blank ones between", `\n${a}\n \n\n${b}\n\n`, [2, 5], [a, b]],
    ["lines that end in CRLF", `${a}\r\n${b}\r\n`, [1, 2], [`${a}\r`, `${b}\r`]],
    ["lines after a byte order mark", `${byteOrderMark}${a}\n${b}`, [1, 2], [a, b]],
    ["lines after an array in a line", "[]\n[1]\n", [2], ["1"]],
    [
      "objects on lines, one after the other",
      `${prettyA}\n${prettyC}\n`,
      [1, 5],
      [prettyA, prettyC],
    ],
    ["objects that touch", `${a}${b} ${prettyA}${c}`, [1, 1, 1, 4], [a, b, prettyA, c]],
    ["an array", `[${a},${b},${c}]`, [1, 1, 1], [a, b, c]],
    ["an array on lines", `[\n${a},\n${b}\n]\n`, [2, 3], [a, b]],
    ["lines after an empty object", `{}\n{"id":1\n${b}\n`, [1, 2, 3], ["{}", '{"id":1', b]],
    ["lines of numbers", "7\n-8\nx\n", [1, 2, 3], ["7", "-8", "x"]],
    ["numbers one after the other", "7 -8\n9", [1, 1, 2], ["7", "-8", "9"]],
    ["an array after a byte order mark", `${byteOrderMark}[${a}]`, [1], [a]],
    ["an empty array", "[ ]", [], []],
    ["arrays one after the other", `[${a}]\n[${b},${c}]`, [1, 2, 2], [a, b, c]],
    [
      "an array of values that are not objects",
      '[1, "x,]", [2,{}], null ]',
      [1, 1, 1, 1],
      ["1", '"x,]"', "[2,{}]", "null"],
    ],
  ])("%s", (_what, input, lines, texts) => {
    expectRecords(input, lines, texts);
  });

  const plant = fc.record({
    id: fc.integer(),
    name: fc.string({ unit: "binary" }),
    more: fc.jsonValue(),
  });
  const layouts: Readonly<Record<string, (texts: readonly string[]) => string>> = {
    lines: (texts) => texts.map((text) => `${text}\n`).join(""),
    "values one after the other": (texts) => texts.join("\n\n"),
    "an array": (texts) => `[${texts.join(",\n")}]`,
  };
  it.each(Object.entries(layouts))(
    "%s are those that were written, however the input is split",
    (name, layOut) => {
      const indentation = name === "lines" ? fc.constant(0) : fc.integer({ min: 0, max: 4 });
      const texts = fc
        .tuple(fc.array(plant, { minLength: 2, maxLength: 5 }), indentation)
        .map(([plants, spaces]) => plants.map((each) => JSON.stringify(each, null, spaces)));
      const pieceSizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });
      fc.assert(
        fc.property(texts, pieceSizes, (written, sizes) => {
          expect(recordsOf(layOut(written), sizes).texts).toEqual(written);
        }),
      );
    },
  );
});

describe("a line after a first one that is a whole value", () => {
  it.each<[what: string, line: string]>([
    ["an open array", '{"id":1,"x":['],
    ["an open string", '{"id":"1'],
    ["text", "x,y"],
    ["text after a value", '{"id":1},'],
    ["two values", `${a}${b}`],
    ["an array", `[${a}]`],
    ["a part of a value on several lines", "}"],
  ])("is a record, whatever is in it: %s", (_what, line) => {
    expectRecords(`${a}\n${line}\n${b}\n`, [1, 2, 3], [a, line, b]);
  });

  it("is a record with any bytes", () => {
    const anyBytes = fc
      .uint8Array({ minLength: 1, maxLength: 30 })
      .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0a)).toString("latin1"))
      .filter((text) => /[^ \t\r]/.test(text));
    fc.assert(
      fc.property(fc.array(anyBytes), (lines) => {
        expect(recordsOf([a, ...lines].join("\n")).texts).toEqual([a, ...lines]);
      }),
    );
  });
});

it.each(["plants.ndjson", "PLANTS.JSONL"])(
  "each line of a file called %s is a record, also if the first one is none",
  (path) => {
    const { records } = readInput(`{"id":\n${a}\n`, [1], createReader(99, path));
    expect(records.map(errorOf)).toEqual([40001, undefined]);
  },
);

describe("the first malformed byte ends values that are not on lines", () => {
  const expected = (part: string, found: string, place: string, advice = ""): string =>
    `invalid JSON: expected ${part} but found ${found} (plants:${place})${advice}`;
  it.each<[what: string, input: string, lines: number[], message: string]>([
    ["text", "x,y\n{}", [], expected("a value", '"x"', "1:1")],
    ["a missing comma", `[${a}\n ${b}]`, [1], expected('"," or "]"', '"{"', "2:2")],
    ["two commas", `[${a},\n,${b}]`, [1], expected("a value", '","', "2:1")],
    ["a comma at the beginning", `[,${a}]`, [], expected("a value", '","', "1:2")],
    [
      "a comma at the end",
      `[1,${a},\n]`,
      [1, 1],
      expected("a value", '"]"', "2:1", ": remove the comma before it"),
    ],
    ["a comma after an object", `${a},\n`, [1], expected("a value", '","', "1:20", ": remove it")],
    ["a bracket too many", `${prettyA}\n}`, [1], expected("a value", '"}"', "5:1")],
    [
      "an open string",
      `${prettyA}\n{\n  "é": "2\n}\n${prettyC}`,
      [1],
      expected("an escape such as \\n", '"\\u000a"', "6:10"),
    ],
    [
      "text in a value",
      `[${a}, {"id": 2, "name": fern}]`,
      [1],
      expected("a value", '"f"', "1:41", ": put text in double quotes"),
    ],
    ["a character of several bytes", `["é" 🌱]`, [1], expected('"," or "]"', '"🌱"', "1:6")],
    [
      "a value that is too deep",
      `{\n"a":${"[".repeat(64)}`,
      [],
      "JSON nested too deeply (plants:2:68): use at most 64 levels",
    ],
    [
      "a comment",
      `// plants\n[${a}]`,
      [],
      expected("a value", '"/"', "1:1", ": remove the comment, because JSON has none"),
    ],
    [
      "the end in an array",
      `\n[${a},\n`,
      [2],
      "plants ends inside the array that begins at line 2: the rest of the input may be missing",
    ],
    ["the end in a value", `[${a},\n{"id":`, [1], expected("a value", "the end", "2:7")],
  ])("%s", (_what, input, lines, message) => {
    for (const sizes of [undefined, [1]]) {
      const { records, error } = readInput(input, sizes);
      expect(records.map(({ line }) => line)).toEqual(lines);
      expect(error).toBeInstanceOf(InputSyntaxError);
      expect(error).toMatchObject({ message });
    }
  });

  it("and invalid UTF-8 too", () => {
    const reader = createReader();
    const bytes = Buffer.from(`[${a},\n{"é":1}]`, "latin1");
    expect(() => [...reader.push(bytes)]).toThrow("invalid UTF-8 (plants:2:3): encode");
  });

  it("whatever it is, however the input is split", () => {
    const part = fc.constantFrom(a, prettyA, '{"é":1}', '"ü"', "[", "]", ",", " ", "\n", "🌱", "1");
    const pieceSizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });
    const maxBytes = fc.constantFrom(10, 20, 1000);
    fc.assert(
      fc.property(fc.array(part), pieceSizes, maxBytes, (parts, sizes, max) => {
        const outcomeOf = ({ records, error }: ReturnType<typeof readInput>) => ({
          texts: records.map(({ line, bytes }) => `${line} ${Buffer.from(bytes).toString()}`),
          error,
        });
        const input = parts.join("");
        expect(outcomeOf(readInput(input, sizes, createReader(max)))).toEqual(
          outcomeOf(readInput(input, undefined, createReader(max))),
        );
      }),
      { numRuns: 1000 },
    );
  });
});

it.each<[what: string, first: string, last: string]>([
  ["with the end of its line", a, "\n"],
  ["with the end of its line, after blanks", `${a} \r`, "\n"],
  ["with its last bracket, in an array", `[${a.slice(0, -1)}`, "}"],
  ["with its last bracket, in an array on lines", `[\n${prettyA.slice(0, -1)}`, "}"],
  ["with its last bracket, when it is on lines", prettyA.slice(0, -1), "}"],
  ["with the beginning of the next one on the first line", a, "{"],
])("a record is complete %s", (_what, first, last) => {
  const reader = createReader();
  expect([...reader.push(Buffer.from(first))]).toHaveLength(0);
  expect([...reader.push(Buffer.from(last))]).toHaveLength(1);
});

describe("an input", () => {
  it.each<[what: string, input: string, isCollection: boolean]>([
    ["an object", a, false],
    ["lines", `${a}\n${b}\n`, false],
    ["nothing", "", false],
    ["an array of one", `[${a}]`, true],
    ["an empty array", "[]", true],
  ])("knows if it is a collection: %s", (_what, input, isCollection) => {
    expect(readInput(input).reader.isCollection).toBe(isCollection);
  });

  it.each<[what: string, input: string, lines: number[]]>([
    ["lines", `${a}\n${b}\n\n${c}`, [2, 3]],
    ["objects on lines", `${prettyA}\n${prettyC}\n`, [4, 12]],
    ["objects on one line", `${a}${b}\n`, [1, 1]],
    ["an array", `[\n${a},\n${b}]\n`, [2, 3]],
  ])("of %s: the reader knows the line after each record", (_what, input, lines) => {
    const reader = createReader();
    const seen: number[] = [];
    for (const { line } of reader.push(Buffer.from(input))) {
      expect(reader.line).toBeGreaterThanOrEqual(line);
      seen.push(reader.line);
    }
    expect(seen).toEqual(lines);
  });
});

it.each([
  ["gzip", gzipSync("{}"), "is compressed with gzip"],
  ["UTF-16", Buffer.from('{"id":1}', "utf16le"), "is UTF-16"],
  ["zstd", Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 4, 0, 0, 0), "is compressed with zstd: "],
  ["xz", Buffer.from("\u00fd7zXZ\0\0\0", "latin1"), "is compressed with xz: "],
  ["bzip2", Buffer.from("BZh91AY&SY"), "is compressed with bzip2: "],
  ["bzip2 of nothing", Buffer.from("BZh9\u0017rE8P\u0090", "latin1"), "is compressed with bzip2: "],
  ["UTF-32", Buffer.from('{\0\0\0"\0\0\0', "latin1"), "is UTF-32: "],
  ["UTF-32 in the other order", Buffer.from('\0\0\0{\0\0\0"', "latin1"), "is UTF-32: "],
  ["UTF-32 with a mark", Buffer.of(0xff, 0xfe, 0, 0, 0x7b, 0, 0, 0), "is UTF-32: "],
  ["a JSON text sequence", Buffer.from('\u001e{"id":1}\n'), "is a JSON text sequence (RFC 7464): "],
])("an input in pieces of one byte is recognised as %s", (_what, bytes, problem) => {
  const reader = createReader();
  const read = (): PlantRecord[] => {
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
    return [...pieces.flatMap((piece) => [...reader.push(piece)]), ...reader.end()];
  };
  expect(read).toThrow(problem);
});

it("a record has its id and its unknown members, also if it is invalid", () => {
  const { records } = readInput(
    `{"id":9007199254740993,"nmae":"a","toString":1}\n{"id":1,"id":2}\n{"id":1.5}\n[]\n`,
  );
  expect(records.map(({ content: { id, unknownMembers } }) => [id, unknownMembers])).toEqual([
    [9007199254740993n, ["nmae", "toString"]],
    [undefined, []],
    [undefined, []],
    [undefined, []],
  ]);
  expect(records.map(errorOf)).toEqual([42204, 40005, 42202, 42200]);
});

describe("a record that is too large", () => {
  const large = `{"id":1,"name":"${"x".repeat(200)}"}`;
  const largeOnLines = `{\n"id":1,\n"name":"${"x".repeat(200)}"\n}`;
  it.each<[what: string, input: string, lines: number[]]>([
    ["in a line", `${a}\n${large}\n${b}\n`, [1, 2, 3]],
    ["in a line that is not JSON", `${a}\n${large.slice(0, -1)}\n${b}\n`, [1, 2, 3]],
    ["on lines", `${prettyA}\n${largeOnLines}\n${prettyA}\n`, [1, 5, 9]],
    ["in an array", `[${a},\n${large},${b}]`, [1, 2, 2]],
  ])("is rejected, and the others are read: %s", (_what, input, lines) => {
    for (const sizes of [[10], [input.length]]) {
      const { records } = readInput(input, sizes, createReader(100));
      expect(records.map(({ line }) => line)).toEqual(lines);
      expect(records.map(errorOf)).toEqual([undefined, 41300, undefined]);
      expect(records[1]?.bytes).toHaveLength(0);
    }
  });

  it("can be the first one", () => {
    for (const first of [large, largeOnLines]) {
      for (const sizes of [[10], undefined]) {
        const { records } = readInput(`${first}\n${prettyA}\n`, sizes, createReader(100));
        expect(records.map(errorOf)).toEqual([41300, undefined]);
      }
    }
  });

  it("is not one that has more blanks behind it than the limit", () => {
    const reader = createReader(100);
    const pieces = [a, ...Array<string>(11).fill(" ".repeat(10))];
    const records = pieces.flatMap((piece) => [...reader.push(Buffer.from(piece))]);
    expect(records.map(({ content }) => content.id)).toEqual([1n]);
  });

  it("has a message with the limit", () => {
    const [record] = readInput(large, [10], createReader(100)).records;
    expect(record?.content.plant).toMatchObject({
      message:
        "the plant has more than 100 bytes, which is the limit for one record: shorten it, or close its strings and brackets",
    });
  });

  it("does not count the line feed at its end", () => {
    for (const [max, error] of [
      [19, undefined],
      [18, 41300],
    ] as const) {
      const { records } = readInput(`${a}\n${a}`, [1], createReader(max, "plants.ndjson"));
      expect(records.map(errorOf)).toEqual([error, error]);
    }
  });
});
