import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonReader } from "../../src/records/json-reader.ts";
import {
  InputSyntaxError,
  type PlantRecord,
  type RecordContent,
  type Step,
} from "../../src/records/record-reader.ts";

const maxRecordBytes = 1024 * 1024;
const byteOrderMark = "\uFEFF";

/** Reads an input in pieces of the given sizes, repeated as often as necessary. */
function readInput(
  input: string,
  pieceSizes: readonly number[] = [input.length + 9],
  max = maxRecordBytes,
  reader = new JsonReader(max),
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
    [
      "objects on lines, one after the other",
      `${prettyA}\n${prettyC}\n`,
      [1, 5],
      [prettyA, prettyC],
    ],
    ["objects that touch", `${a}${b} ${prettyA}${c}`, [1, 1, 1, 4], [a, b, prettyA, c]],
    ["an array", `[${a},${b},${c}]`, [1, 1, 1], [a, b, c]],
    ["an array on lines", `[\n${a},\n${b}\n]\n`, [2, 3], [a, b]],
    ["lines after an empty one", `{}\n{"id":1\n${b}\n`, [1, 2, 3], ["{}", '{"id":1', b]],
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

it("the line and the column of a record lead to its text, however the input is split", () => {
  const part = fc.oneof(
    fc.constantFrom(a, prettyA, "{é", '"ü"x', "[", "]", ",", " ", "\r\n", "\n", "\n\n", "🌱"),
    fc.string({ unit: "binary", maxLength: 4 }).map((name) => JSON.stringify({ name })),
  );
  const pieceSizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(part), pieceSizes, (parts, sizes) => {
      const lines = parts.join("").split("\n");
      for (const { line, column, bytes } of readInput(parts.join(""), sizes).records) {
        const [first] = Buffer.from(bytes).toString().split("\n");
        const text = Array.from(lines[line - 1] ?? "").slice(column - 1);
        expect(text.join("").startsWith(first ?? "")).toBe(true);
      }
    }),
    { numRuns: 1000 },
  );
});

describe("an invalid record affects no other one", () => {
  it.each<[what: string, input: string, lines: number[], texts: string[]]>([
    [
      "in a line: an open array at its end",
      `${a}\n{"id":1,"x":[\n{"id":2}\n`,
      [1, 2, 3],
      [a, '{"id":1,"x":[', '{"id":2}'],
    ],
    ["in a line: an open string", '{"id":"1\n{"id":2}\n', [1, 2], ['{"id":"1', '{"id":2}']],
    ["in a line: text that is not JSON", 'x,y\n{"id":2}\n', [1, 2], ["x,y", '{"id":2}']],
    ["in a line: text after the value", '{"id":1},\n{"id":2}\n', [1, 2], ['{"id":1},', '{"id":2}']],
    [
      "in a line: a malformed value before another bracket",
      `${a}\n{"tag"]{}}\n{"id":2}[3]\n{"id":3]{}}`,
      [1, 2, 3, 3, 4],
      [a, '{"tag"]{}}', '{"id":2}', "[3]", '{"id":3]{}}'],
    ],
    [
      "on several lines: text that is not JSON between matching brackets",
      '{\n  "id": one\n]\n{\n  "id": 2\n}\n',
      [1, 4],
      ['{\n  "id": one\n]', '{\n  "id": 2\n}'],
    ],
    [
      "on several lines: a bracket too many",
      `${prettyA}\n}\n${prettyC}`,
      [1, 5, 6],
      [prettyA, "}", prettyC],
    ],
    [
      "in an array: values that are not JSON",
      `[${a}, x y, 'z', x${a},${b}]`,
      [1, 1, 1, 1, 1],
      [a, "x y", "'z'", `x${a}`, b],
    ],
  ])("%s", (_what, input, lines, texts) => {
    expectRecords(input, lines, texts);
  });

  it("in lines whose brackets match", () => {
    const lines = [a, "{x", "]", "y", `  ${b}`];
    const texts = recordsOf(lines.join("\n")).texts.map((text) => text.trim());
    expect(texts).toEqual([...lines.slice(0, -1), b]);
  });

  it("in lines with any bytes", () => {
    const anyBytes = fc
      .uint8Array({ minLength: 1, maxLength: 30 })
      .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0a)).toString("latin1"));
    const brackets = fc.string({ unit: fc.constantFrom(..."{}[]:,x "), maxLength: 10 });
    const junk = fc
      .oneof(anyBytes, brackets)
      // Lines of brackets alone may be one record together, and a valid value may be followed by another record.
      .filter((text) => !/^([\s[\]{}]*$|\s*\{\s*\}\s*[[{])/.test(text));
    fc.assert(
      fc.property(fc.array(junk), (lines) => {
        expect(recordsOf([a, ...lines].join("\n")).texts).toEqual([a, ...lines]);
      }),
    );
  });
});

describe("a malformed record on several lines ends before the next line that begins a record", () => {
  it.each<[what: string, input: string, lines: number[], texts: string[]]>([
    [
      "an open string",
      `${prettyA}\n{\n  "id": "2\n}\n${prettyC}`,
      [1, 5, 8],
      [prettyA, '{\n  "id": "2\n}', prettyC],
    ],
    [
      "a missing bracket",
      `${prettyA}\n{\n  "id": 2\n${prettyC}\n`,
      [1, 5, 7],
      [prettyA, '{\n  "id": 2', prettyC],
    ],
    [
      "a line between indented records that is not JSON",
      `  {\n    "id": 1,\n    "name": "a"\n  }\nx\n${prettyC}`,
      [1, 5, 6],
      ['  {\n    "id": 1,\n    "name": "a"\n  }', "x", prettyC],
    ],
    [
      "an open string in an array",
      `[\n${a},\n{"id":"2},\n${b}\n]`,
      [2, 3, 4],
      [a, '{"id":"2},', b],
    ],
    [
      "an open string in an indented array, before a nested object",
      `[\n  {\n    "id": "2,\n    "more": [\n      {"id":7,"name":"x"}\n    ]\n  },\n  ${a}\n]`,
      [2, 8],
      ['{\n    "id": "2,\n    "more": [\n      {"id":7,"name":"x"}\n    ]\n  },', a],
    ],
    [
      "the first element of an array, on the line of its bracket",
      `[{"id":"1},\n ${a},\n ${b}]`,
      [1, 2, 3],
      ['{"id":"1},', a, b],
    ],
    ["the last element of an array", `[\n${a},\n{"id":"2}\n]\n`, [2, 3], [a, '{"id":"2}\n]\n']],
    ["the end of the input", `${prettyA}\n{\n "id": "2`, [1, 5], [prettyA, '{\n "id": "2']],
  ])("%s", (_what, input, lines, texts) => {
    expectRecords(input, lines, texts);
  });

  it("and its message names the lines", () => {
    const { records } = readInput(`{\n  "id": "1\n}\n${prettyA}`);
    expect(records[0]?.content.plant).toMatchObject({
      message: expect.stringMatching(/ \(lines 1 to 3\)$/) as string,
    });
  });
});

describe("values in any layout follow records on lines", () => {
  it.each<[what: string, input: string, lines: number[]]>([
    ["an object on several lines", `${a}\n${prettyA}\n${b}\n`, [1, 2, 6]],
    ["an object on several lines after an invalid line", `${a}\n{"id":\n${prettyA}\n`, [1, 2, 3]],
    ["objects on one line", `${a}\n${b}${c}\n`, [1, 2, 2]],
    ["a byte order mark alone on the first line", `${byteOrderMark}\n${a}\n`, [2]],
  ])("%s", (_what, input, lines) => {
    for (const sizes of [undefined, [1]]) {
      expect(recordsOf(input, sizes).lines).toEqual(lines);
    }
  });
});

describe("an array that is not valid stops the reader", () => {
  const array = (line: number, what: string): string =>
    `is not a valid array at line ${line}: ${what} is missing`;
  const end = "ends inside the array that begins at line 1: the rest of the input may be missing";
  it.each<[what: string, input: string, lines: number[], message: string]>([
    ["a missing comma", `[${a}\n${b}]`, [1], array(2, 'a comma or "]"')],
    ["two commas", `[${a},\n,${b}]`, [1], array(2, "an element")],
    ["a comma at the beginning", `[,${a}]`, [], array(1, "an element")],
    [
      "a comma at the end",
      `[1,${a},\n]`,
      [1, 1],
      `${array(2, "an element")}, so remove the comma before the "]"`,
    ],
    ["an open array", `[${a},\n`, [1], end],
    ["an open element", `[${a},\n{"id":`, [1, 2], end],
  ])("%s", (_what, input, lines, message) => {
    for (const sizes of [undefined, [1]]) {
      const { records, error } = readInput(input, sizes);
      expect(records.map(({ line }) => line)).toEqual(lines);
      expect(error).toBeInstanceOf(InputSyntaxError);
      expect(error).toMatchObject({ message });
    }
  });
});

describe("a record is complete", () => {
  it.each<[what: string, first: string, last: string]>([
    ["with the end of its line", a, "\n"],
    ["with its last bracket, in an array", `[${a.slice(0, -1)}`, "}"],
    ["with its last bracket, in an array on lines", `[\n${prettyA.slice(0, -1)}`, "}"],
    ["with its last bracket, when it is on lines", prettyA.slice(0, -1), "}"],
    ["with the beginning of the next one on the first line", a, "{"],
  ])("%s", (_what, first, last) => {
    const reader = new JsonReader(maxRecordBytes);
    expect([...reader.push(Buffer.from(first))]).toHaveLength(0);
    expect([...reader.push(Buffer.from(last))]).toHaveLength(1);
  });
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
    ["objects on one line", `${a}${b}\n`, [1, 2]],
    ["an array", `[\n${a},\n${b}]\n`, [2, 3]],
  ])("of %s: the reader knows the line after each record", (_what, input, lines) => {
    const reader = new JsonReader(maxRecordBytes);
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
  const reader = new JsonReader(maxRecordBytes);
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

it("a comment before an array is named as that", () => {
  const { records, error } = readInput(`// plants\n/* of\n[\n${a},\n${b}\n]\n`);
  expect(records.map(errorOf)).toEqual([40001, 40001]);
  expect(error).toMatchObject({
    message: "has a comment before the array at line 3: remove it, because JSON has none",
  });
  expect(readInput(`# plants\n${a}\n[${b}]\n`).records.map(errorOf)).toEqual([
    40001,
    undefined,
    42200,
  ]);
});

describe("a record that is too large", () => {
  const large = `{"id":1,"name":"${"x".repeat(200)}"}`;
  const largeOnLines = `{\n"id":1,\n"name":"${"x".repeat(200)}"\n}`;
  it.each<[what: string, input: string]>([
    ["in a line", `${a}\n${large}\n${b}\n`],
    ["in a line that is not JSON", `${a}\n${large.slice(0, -1)}\n${b}\n`],
    ["in the first line", `${large}\n${a}\n${b}\n`],
    ["on lines", `${prettyA}\n${largeOnLines}\n${prettyA}\n`],
    ["on the first lines", `${largeOnLines}\n${prettyA}\n${prettyA}\n`],
    ["in an array", `[${a},${large},${b}]`],
  ])("is rejected, and the others are read: %s", (_what, input) => {
    const { records } = readInput(input, [10], 100);
    expect(
      records.map((record) => (record.bytes.length > 0 ? undefined : errorOf(record))),
    ).toEqual(
      input.startsWith(large) || input.startsWith(largeOnLines)
        ? [41300, undefined, undefined]
        : [undefined, 41300, undefined],
    );
  });

  it("has a message with the limit", () => {
    const [record] = readInput(large, [10], 100).records;
    expect(record?.content.plant).toMatchObject({
      message:
        "the plant has more than 100 bytes, which is the limit for one record: shorten it, or close its strings and brackets",
    });
  });
});

/** Counts the bytes that it scans or parses. A byte counts each time. */
class CountingReader extends JsonReader {
  count = 0;

  protected override scan(byte: number): Step {
    this.count++;
    return super.scan(byte);
  }

  protected override parse(bytes: Uint8Array): RecordContent {
    this.count += bytes.length;
    return super.parse(bytes);
  }
}

describe("an input that never ends its first record", () => {
  const lines = 3000;
  it.each<[what: string, input: string, records: number, maxReads: number]>([
    // A line is scanned up to the deepest level that is allowed.
    ["with a deeper value on each line", '{"a":\n'.repeat(lines), lines, 70],
    ["with the lines of an array", `{"plants":[\n${`${a},\n`.repeat(lines)}`, lines + 1, 4],
    [
      "with malformed records of several lines",
      `{"plants":[\n${'{"a":[\n{"b":1}\n],,}\n'.repeat(lines)}`,
      3 * lines + 1,
      4,
    ],
  ])("is read in linear time: %s", (_what, input, records, maxReads) => {
    const reader = new CountingReader(maxRecordBytes);
    expect(readInput(input, [64 * 1024], undefined, reader).records).toHaveLength(records);
    expect(reader.count).toBeLessThan(maxReads * input.length);
  });
});

it.each<[what: string, input: string, extraBytes: number, error: number, length: number]>([
  ["an open bracket", `${a.slice(0, -1)}[\n${b}\n`, -1, 40001, 19],
  ["the first line", `${a}]\n${b}\n`, 0, 40001, 20],
  ["the first line", `${a}]\n${b}\n`, -1, 41300, 0],
  ["the last line", `${a}]\n`, 0, 40001, 21],
  ["the last line", `${a}]\n`, -1, 41300, 0],
  ["lines", `${a}]\n \n${b}\n`, 0, 41300, 0],
])(
  "the limit for a malformed record does not count the line feed at its end: %s",
  (_what, input, extraBytes, error, length) => {
    for (const sizes of [[1], [input.length]]) {
      const [record] = readInput(input, sizes, 20 + extraBytes).records;
      expect(record && errorOf(record)).toBe(error);
      expect(record?.bytes).toHaveLength(length);
    }
  },
);
