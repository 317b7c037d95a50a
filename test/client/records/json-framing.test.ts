import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonFraming } from "../../../src/client/records/json-framing.ts";
import { requestErrorOf } from "../../core/request-error-of.ts";

const maxRecordBytes = 1024 * 1024;
const byteOrderMark = "\uFEFF";
const rs = "\u001e";

/** The records of an input that comes in pieces of the given sizes, over and over. */
function frame(
  input: string,
  pieceSizes: readonly number[] = [input.length + 9],
  max = maxRecordBytes,
) {
  const framing = new JsonFraming(max);
  const bytes = Buffer.from(input);
  const records = [];
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const size = pieceSizes[piece % pieceSizes.length] ?? 1;
    records.push(...framing.push(bytes.subarray(at, at + size)));
    at += size;
  }
  records.push(...framing.end());
  return { records, framing };
}

/** The line and the bytes of each record. */
function recordsOf(input: string, pieceSizes?: readonly number[]): [line: number, text: string][] {
  const { records } = frame(input, pieceSizes);
  return records.map(({ line, bytes }) => [line, Buffer.from(bytes).toString()]);
}

const a = '{"id":1,"name":"a"}';
const b = '{"id":2,"name":"{b]\\"}"}';
const c = '{"id":3,"name":"c","more":[{},{"x":[]}]}';
const prettyA = '{\n  "id": 1,\n  "name": "a"\n}';
const prettyC = '{\n  "id": 3,\n  "more": [\n    {\n      "x": []\n    }\n  ]\n}';

describe("the records of", () => {
  it.each<[what: string, input: string, records: [line: number, text: string][]]>([
    ["nothing", "", []],
    ["blanks", " \r\n\t\n", []],
    ["an object", a, [[1, a]]],
    ["an object on lines", `${prettyA}\n`, [[1, prettyA]]],
    [
      "lines",
      `${a}\n${b}\n${c}\n`,
      [
        [1, a],
        [2, b],
        [3, c],
      ],
    ],
    [
      "lines without an end",
      `${a}\n${b}`,
      [
        [1, a],
        [2, b],
      ],
    ],
    [
      "lines with blank ones between",
      `\n${a}\n \n\n${b}\n\n`,
      [
        [2, a],
        [5, b],
      ],
    ],
    [
      "lines that end in CRLF",
      `${a}\r\n${b}\r\n`,
      [
        [1, `${a}\r`],
        [2, `${b}\r`],
      ],
    ],
    [
      "lines after a byte order mark",
      `${byteOrderMark}${a}\n${b}`,
      [
        [1, byteOrderMark + a],
        [2, b],
      ],
    ],
    [
      "objects on lines, one after the other",
      `${prettyA}\n${prettyC}\n`,
      [
        [1, prettyA],
        [5, prettyC],
      ],
    ],
    [
      "objects that touch",
      `${a}${b} ${prettyA}${c}`,
      [
        [1, a],
        [1, b],
        [1, prettyA],
        [4, c],
      ],
    ],
    [
      "an array",
      `[${a},${b},${c}]`,
      [
        [1, a],
        [1, b],
        [1, c],
      ],
    ],
    [
      "an array on lines",
      `[\n${a},\n${b}\n]\n`,
      [
        [2, a],
        [3, b],
      ],
    ],
    [
      "objects on lines after empty ones",
      `${byteOrderMark}{}\n\n{ }\r\n${prettyA}\n{}\n${prettyC}\n`,
      [
        [1, `${byteOrderMark}{}`],
        [3, "{ }\r"],
        [4, prettyA],
        [8, "{}"],
        [9, prettyC],
      ],
    ],
    [
      "lines after an empty one",
      `{}\n{"id":1\n${b}\n`,
      [
        [1, "{}"],
        [2, '{"id":1'],
        [3, b],
      ],
    ],
    [
      "an array after an empty object",
      `{}\n[\n${a},\n${b}]`,
      [
        [1, "{}"],
        [3, a],
        [4, b],
      ],
    ],
    [
      "a sequence after an empty object",
      `{}\n${rs}${prettyA}\n${rs}${b}\n`,
      [
        [1, "{}"],
        [2, prettyA],
        [6, b],
      ],
    ],
    ["an array after a byte order mark", `${byteOrderMark}[${a}]`, [[1, a]]],
    ["an empty array", "[ ]", []],
    [
      "arrays one after the other",
      `[${a}]\n[${b},${c}]`,
      [
        [1, a],
        [2, b],
        [2, c],
      ],
    ],
    [
      "an array of what is no object",
      '[1, "x,]", [2,{}], null ]',
      [
        [1, "1"],
        [1, '"x,]"'],
        [1, "[2,{}]"],
        [1, "null"],
      ],
    ],
    [
      "a sequence",
      `${rs}${a}\n${rs}${prettyC}\n`,
      [
        [1, a],
        [2, prettyC],
      ],
    ],
    [
      "a sequence without line feeds",
      `${rs}${a}${rs}${rs}${b}`,
      [
        [1, a],
        [1, b],
      ],
    ],
    ["a sequence after a byte order mark", `${byteOrderMark}${rs}${a}\n`, [[1, a]]],
  ])("%s", (_what, input, records) => {
    expect(recordsOf(input)).toEqual(records);
    expect(recordsOf(input, [1]), "byte by byte").toEqual(records);
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
    "a sequence": (texts) => texts.map((text) => `${rs}${text}\n`).join(""),
  };
  it.each(Object.entries(layouts))(
    "%s are those that were written, in whatever pieces",
    (name, layOut) => {
      const indentation = name === "lines" ? fc.constant(0) : fc.integer({ min: 0, max: 4 });
      const texts = fc
        .tuple(fc.array(plant, { minLength: 2, maxLength: 5 }), indentation)
        .map(([plants, spaces]) => plants.map((each) => JSON.stringify(each, null, spaces)));
      const pieceSizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });
      fc.assert(
        fc.property(texts, pieceSizes, (written, sizes) => {
          const read = recordsOf(layOut(written), sizes).map(([, text]) => text);
          expect(read).toEqual(written);
        }),
      );
    },
  );
});

describe("a broken record costs no other one", () => {
  it.each<[what: string, input: string, records: [line: number, text: string][]]>([
    [
      "in a line: no bracket at its end",
      '{"id":1\n{"id":2}\n{"id":3}\n',
      [
        [1, '{"id":1'],
        [2, '{"id":2}'],
        [3, '{"id":3}'],
      ],
    ],
    [
      "in a line: no value at its end",
      '{"id":\n{"id":2}\n{"id":3}\n',
      [
        [1, '{"id":'],
        [2, '{"id":2}'],
        [3, '{"id":3}'],
      ],
    ],
    [
      "in a line: an open array at its end",
      '{"id":1,"x":[\n{"id":2}\n{"id":3}\n',
      [
        [1, '{"id":1,"x":['],
        [2, '{"id":2}'],
        [3, '{"id":3}'],
      ],
    ],
    [
      "in a line: an open string",
      '{"id":"1\n{"id":2}\n',
      [
        [1, '{"id":"1'],
        [2, '{"id":2}'],
      ],
    ],
    [
      "in a line: what is no JSON",
      'id,name\n{"id":2}\n',
      [
        [1, "id,name"],
        [2, '{"id":2}'],
      ],
    ],
    [
      "in a line: something behind it",
      '{"id":1},\n{"id":2}\n',
      [
        [1, '{"id":1},'],
        [2, '{"id":2}'],
      ],
    ],
    [
      "in a line that is not the first",
      `${a}\n{"id":[\n${b}\n`,
      [
        [1, a],
        [2, '{"id":['],
        [3, b],
      ],
    ],
    [
      "on lines: an open string",
      '{\n  "id": "1\n}\n{\n  "id": 2\n}\n',
      [
        [1, '{\n  "id": "1\n}'],
        [4, '{\n  "id": 2\n}'],
      ],
    ],
    [
      "on lines: no bracket at its end",
      '{\n  "id": 1\n{\n  "id": 2\n}\n',
      [
        [1, '{\n  "id": 1'],
        [3, '{\n  "id": 2\n}'],
      ],
    ],
    [
      "on lines: the wrong bracket",
      '{\n  "id": 1\n]\n{\n  "id": 2\n}\n',
      [
        [1, '{\n  "id": 1\n]'],
        [4, '{\n  "id": 2\n}'],
      ],
    ],
    [
      "on lines: too deep",
      `{\n  "x": ${"[".repeat(65)}\n}\n{\n  "id": 2\n}\n`,
      [
        [1, `{\n  "x": ${"[".repeat(65)}\n}`],
        [4, '{\n  "id": 2\n}'],
      ],
    ],
    [
      "on lines: something behind it",
      `${prettyA}}\n${prettyA}\n`,
      [
        [1, prettyA],
        [4, "}"],
        [5, prettyA],
      ],
    ],
    [
      "in an array on lines: an open string",
      '[\n  {"id": "1},\n  {"id": 2}\n]',
      [
        [2, '{"id": "1},'],
        [3, '{"id": 2}'],
      ],
    ],
    [
      "in an array on lines: no bracket at its end",
      '[\n  {\n    "id": 1\n  ,\n  {\n    "id": 2\n  }\n]',
      [
        [2, '{\n    "id": 1\n  ,'],
        [5, '{\n    "id": 2\n  }'],
      ],
    ],
    [
      "in an array on lines: the last one",
      '[\n  {"id": 1},\n  {"id": 2\n]\n',
      [
        [2, '{"id": 1}'],
        [3, '{"id": 2'],
      ],
    ],
    [
      "in an array: what is no JSON",
      `[${a}, x y, 'z',${b}]`,
      [
        [1, a],
        [1, "x y"],
        [1, "'z'"],
        [1, b],
      ],
    ],
    [
      "in an array: a value before it",
      `[x${a},${b}]`,
      [
        [1, "x"],
        [1, a],
        [1, b],
      ],
    ],
    [
      "in a sequence",
      `${rs}{"id":1\n${rs}{"id":"2\n\n${rs}${a}\n`,
      [
        [1, '{"id":1'],
        [2, '{"id":"2'],
        [4, a],
      ],
    ],
    [
      "in a sequence: something behind it",
      `${rs}${a} x\n${rs}${b}\n`,
      [
        [1, `${a} x`],
        [2, b],
      ],
    ],
  ])("%s", (_what, input, records) => {
    expect(recordsOf(input)).toEqual(records);
    expect(recordsOf(input, [1]), "byte by byte").toEqual(records);
  });

  it("but in an array without line breaks brackets that do not match cost all that follow", () => {
    expect(recordsOf('[{"id":1},{"id":"2},{"id":3}]')).toEqual([
      [1, '{"id":1}'],
      [1, '{"id":"2},{"id":3}]'],
    ]);
  });

  it("in lines whatever it is", () => {
    const junk = fc
      .uint8Array({ minLength: 1, maxLength: 30 })
      .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0a)).toString("latin1"))
      .filter((text) => text.trim() !== "");
    fc.assert(
      fc.property(fc.array(junk), (lines) => {
        const read = recordsOf([a, ...lines].join("\n")).map(([, text]) => text);
        expect(read).toEqual([a, ...lines]);
      }),
    );
  });
});

describe("a record is handed on", () => {
  it.each<[what: string, first: string, isComplete: string]>([
    ["with the end of its line", a, "\n"],
    ["with its last bracket, in an array", `[${a.slice(0, -1)}`, "}"],
    ["with its last bracket, in an array on lines", `[\n${prettyA.slice(0, -1)}`, "}"],
    ["with its last bracket, when it is on lines", prettyA.slice(0, -1), "}"],
    ["with the beginning of the next one, when that touches it", a, "{"],
    ["with the end of its line, in a sequence", `${rs}${a}`, "\n"],
  ])("%s", (_what, first, last) => {
    const framing = new JsonFraming(maxRecordBytes);
    expect([...framing.push(Buffer.from(first))]).toHaveLength(0);
    expect([...framing.push(Buffer.from(last))]).toHaveLength(1);
  });
});

describe("an input", () => {
  it.each<[what: string, input: string, isCollection: boolean]>([
    ["an object", a, false],
    ["lines", `${a}\n${b}\n`, false],
    ["nothing", "", false],
    ["an array of one", `[${a}]`, true],
    ["an empty array", "[]", true],
    ["a sequence of one", `${rs}${a}\n`, true],
  ])("of %s: made for many is %s", (_what, input, isCollection) => {
    expect(frame(input).framing.isCollection).toBe(isCollection);
  });

  it("that ends in an array says so", () => {
    const { records } = frame(`[${a},\n`);
    expect(records.map(({ line }) => line)).toEqual([1, 2]);
    const refusal = requestErrorOf(() => records[1]!.parse());
    expect(refusal).toMatchObject({
      error: 40001,
      message: expect.stringMatching(/array is not closed/),
    });
  });

  const commaMissing = "a comma is missing before this element";
  const surplusComma = "a comma of the array is one too many: no element stands beside it";
  it.each<[what: string, input: string, records: [line: number, complaintOrText: string][]]>([
    [
      "a comma that is missing",
      `[${a}\n${b}]`,
      [
        [1, a],
        [2, commaMissing],
        [2, b],
      ],
    ],
    [
      "a comma after a string that is missing",
      `[${a}"x"]`,
      [
        [1, a],
        [1, commaMissing],
        [1, '"x"'],
      ],
    ],
    [
      "two commas",
      `[${a},\n,${b}]`,
      [
        [1, a],
        [2, surplusComma],
        [2, b],
      ],
    ],
    [
      "a comma after a number and one more",
      `[1,,${a}]`,
      [
        [1, "1"],
        [1, surplusComma],
        [1, a],
      ],
    ],
    [
      "a comma that is first",
      `[,${a}]`,
      [
        [1, surplusComma],
        [1, a],
      ],
    ],
    [
      "a comma that is last",
      `[${a},\n]`,
      [
        [1, a],
        [2, surplusComma],
      ],
    ],
    ["a comma that is alone", "[,]", [[1, surplusComma]]],
    [
      "a comma behind a number that is last",
      `[1,]`,
      [
        [1, "1"],
        [1, surplusComma],
      ],
    ],
    [
      "commas as they should be in one array after another",
      `[${a},${b}]\n[]\n[ ] [${c}]`,
      [
        [1, a],
        [1, b],
        [3, c],
      ],
    ],
  ])("of an array tells of %s, and loses no element", (_what, input, expected) => {
    const { records } = frame(input, [1]);
    const seen = records.map((record) => {
      const text = Buffer.from(record.bytes).toString();
      return [record.line, text === "" ? requestErrorOf(() => record.parse()).message : text];
    });
    expect(seen).toEqual(expected);
  });

  it.each<[what: string, input: string, lines: number[]]>([
    ["lines", `${a}\n${b}\n\n${c}`, [2, 3, 5, 5]],
    ["objects on lines", `${prettyA}\n${prettyC}\n`, [4, 12]],
    ["an array", `[\n${a},\n${b}]\n`, [2, 3]],
    ["a sequence", `${rs}${a}\n${rs}${b}\n`, [2, 3]],
    ["objects on lines after an empty one", `{}\n${prettyA}\n`, [2, 5]],
  ])("%s: knows where the part begins that was not taken", (_what, input, lines) => {
    const framing = new JsonFraming(maxRecordBytes);
    const seen = [];
    for (const record of framing.push(Buffer.from(input))) seen.push([record.line, framing.line]);
    expect(seen.map(([, next]) => next)).toEqual(lines.slice(0, seen.length));
  });
});

describe("a record that is too large", () => {
  const large = `{"id":1,"name":"${"x".repeat(200)}"}`;
  const largeOnLines = `{\n"id":1,\n"name":"${"x".repeat(200)}"\n}`;
  it.each<[what: string, input: string]>([
    ["in a line", `${a}\n${large}\n${b}\n`],
    ["in the first line", `${large}\n${a}\n${b}\n`],
    ["on lines", `${prettyA}\n${largeOnLines}\n${prettyA}\n`],
    ["on the first lines", `${largeOnLines}\n${prettyA}\n${prettyA}\n`],
    ["in an array", `[${a},${large},${b}]`],
    ["in a sequence", `${rs}${a}\n${rs}${large}\n${rs}${b}\n`],
  ])("is refused, and the others go on: %s", (_what, input) => {
    const { records } = frame(input, [10], 100);
    const errors = records.map(({ bytes, parse }) => {
      if (bytes.length > 0) return undefined;
      return requestErrorOf(parse).error;
    });
    expect(errors).toHaveLength(3);
    expect(errors.filter((error) => error !== undefined)).toEqual([41300]);
  });
});
