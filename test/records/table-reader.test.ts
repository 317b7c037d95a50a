import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type NewPlant, toNewPlantJson } from "../../src/core/plant.ts";
import { createRecordReader } from "../../src/records/json-reader.ts";
import type { PlantRecord } from "../../src/records/record-reader.ts";

const createReader = (delimiter = ",", maxBytes = 1000) =>
  createRecordReader({ path: "plants", maxBytes }, delimiter);

/** Reads a table in pieces of one size. */
function read(input: string, pieceSize = input.length + 9, delimiter = ",", max = 1000) {
  const reader = createReader(delimiter, max);
  const bytes = Buffer.from(input);
  const records: PlantRecord[] = [];
  for (let at = 0; at < bytes.length; at += pieceSize) {
    records.push(...reader.push(bytes.subarray(at, at + pieceSize)));
  }
  records.push(...reader.end());
  return { records, reader };
}

/** Returns the line of each record, and its text. */
function rowsOf(input: string, pieceSize?: number) {
  const { records } = read(input, pieceSize);
  return {
    lines: records.map(({ line }) => line),
    texts: records.map(({ bytes }) => Buffer.from(bytes).toString()),
  };
}

describe("the rows of a table", () => {
  it.each<[what: string, input: string, lines: number[], texts: string[]]>([
    ["a header alone", "id,name", [], []],
    ["rows without an end", "id,name\n1,a", [2], ["1,a"]],
    ["blank rows", "\n\nid,name\r\n\r\n1,a\r\n \n", [5], ["1,a\r"]],
    ["line breaks in quotes", 'id,name\n1,"a\n\n"",b"\n2,c\n', [2, 5], ['1,"a\n\n"",b"', "2,c"]],
    [
      "quotes in a cell that began without, which are a mistake of that row alone",
      'id,name\n1,5" x\n2,c\n',
      [2, 3],
      ['1,5" x', "2,c"],
    ],
    [
      "an open quote, which costs only its line",
      'id,name\n1,"a\n2,b\n3,c',
      [2, 3, 4],
      ['1,"a', "2,b", "3,c"],
    ],
    [
      "an open quote before another quoted cell",
      'id,name\n1,"a\n2,b\n3,"c"\n',
      [2, 3, 4],
      ['1,"a', "2,b", '3,"c"'],
    ],
    ["tables one below the other", 'id,name\n1,a\nname,"ID",tag\nb,2,c', [2, 4], ["1,a", "b,2,c"]],
    ["rows whose cells are all empty", ',\nid,name\n,\n1,a\n,,,\n"",""\r\n', [4], ["1,a"]],
    [
      "a header after the line that tells Excel the delimiter",
      "sep=;\r\n;;\nid;name\n1;a",
      [4],
      ["1;a"],
    ],
    [
      "tables with other delimiters",
      '"name";"id"\na;1\nid\tname\n2\t"b;\n"\nid|name\n3|c,d',
      [2, 4, 7],
      ["a;1", '2\t"b;\n"', "3|c,d"],
    ],
    ["a header with quotes after a byte order mark", '\uFEFF"i\nd",id,name\n1,1,a', [3], ["1,1,a"]],
  ])("%s", (_what, input, lines, texts) => {
    expect(rowsOf(input)).toEqual({ lines, texts });
    expect(rowsOf(input, 1), "byte by byte").toEqual({ lines, texts });
  });

  it("are the plants that were written, whatever is in them", () => {
    const text = fc.string({
      unit: fc.constantFrom(",", '"', "\n", "\r", "\t", "a", "é", "\uFEFF", "🌱"),
    });
    const anyPlant = fc.record({
      id: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
      name: text,
      tag: text,
    });
    const quote = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(
        fc.array(anyPlant),
        fc.constantFrom(",", "\t", ";", "|", " "),
        fc.integer({ min: 1, max: 20 }),
        (plants, delimiter, pieceSize) => {
          const rows = plants.map(({ id, name, tag }) =>
            [quote(name), String(id), quote(tag)].join(delimiter),
          );
          const input = [["name", "id", "tag"].join(delimiter), ...rows].join("\r\n");
          const { records } = read(input, pieceSize, delimiter);
          expect(records.map((record) => toNewPlantJson(record.content.plant as NewPlant))).toEqual(
            plants.map(toNewPlantJson),
          );
        },
      ),
    );
  });

  it("let the reader know the line after each of them", () => {
    const reader = createReader();
    const lines = [];
    for (const { line } of reader.push(Buffer.from('id,name\n1,"\n"\n2,b\n3'))) {
      lines.push([line, reader.line]);
    }
    expect(lines).toEqual([
      [2, 4],
      [4, 5],
    ]);
  });

  it("after an open quote are read when the limit for a row is reached", () => {
    const rows = Array.from({ length: 50 }, (_, index) => `${index},b\n`);
    const { records } = read(`id,name\nx,"a\n${rows.join("")}`, 10, ",", 100);
    expect(records).toHaveLength(51);
    expect(records[0]?.content.plant).toMatchObject({
      error: 40001,
      message: "a quoted cell is not closed: add its closing quote",
    });
  });

  it("that are too large are rejected, and the others are read", () => {
    const { records } = read(`id,name\n1,${"x".repeat(200)}\n2,b\n`, 10, ",", 100);
    expect(records.map(({ bytes }) => bytes.length)).toEqual([0, 3]);
    expect(records[0]?.content.plant).toMatchObject({ error: 41300 });
  });
});

it("an empty table has no records", () => {
  expect(read("").records).toEqual([]);
});

it("the header is kept without the byte order mark, for a table of some of the rows", () => {
  const { reader } = read("\uFEFFname,id\r\na,1\r\n");
  expect(Buffer.from(reader.header ?? []).toString()).toBe("name,id\r");
});

describe("a header", () => {
  it.each([
    ["id;ID;name", /must begin with a row that names its columns once: id, name /],
    ["id, name", /header row that is not valid: spaces next to a delimiter belong to the cell/],
    ["name ;id", /: spaces next to a delimiter/],
    ["id,name, tag", /: spaces next to a delimiter/],
    ['"id", "name"', /: spaces next to a delimiter/],
    ['"id" ,"name"', /: spaces next to a delimiter/],
    ["id,na\rme", /header row that is not valid: a cell with a carriage return/],
    ["nr,name", /must begin with a row that names its columns once: id, name .* \(got nr,name\)$/],
    ['"id"x,name', /header row that is not valid: a quoted cell continues/],
    ['[{"id":1}]', /looks like JSON/],
  ])("%j is rejected with advice", (header, message) => {
    expect(() => read(`${header}\n1,a\n`)).toThrow(message);
  });

  it("in another encoding is rejected with advice", () => {
    const reader = createReader();
    const bytes = Buffer.from("\uFEFFid,name\n1,a\n", "utf16le");
    expect(() => [...reader.push(bytes)]).toThrow(/is UTF-16: convert it /);
  });
});

it.each([
  ["in a quoted column of the header", 'id,name,"a\rb"\n1,fern\n'],
  ["before a line feed", "id,name\r\n1,fern\r\n"],
])("accepts CR %s", (_where, input) => {
  const { records } = read(input);
  expect(records).toMatchObject([{ line: 2, content: { plant: { id: 1n, name: "fern" } } }]);
});

it("two CR before a line feed end a row, and any other CR needs quotes", () => {
  const { records } = read(
    'id,name,tag\r\r\n1,fern,pot\r\r\n\r\r\n2,a\rb\n3,"a\rb"\r\n\r4,c\n5,d,\r\r\r\n6,e\r\r',
  );
  const needsQuotes = {
    error: 40001,
    message: "a cell with a carriage return (CR) needs quotes around it",
  };
  expect(records.map(({ content }) => content.plant)).toMatchObject([
    { id: 1n, name: "fern", tag: "pot" },
    needsQuotes,
    { id: 3n, name: "a\rb" },
    needsQuotes,
    needsQuotes,
    { id: 6n, name: "e" },
  ]);
});

it.each(["1, fern", " 1,fern"])("the spaces of the row %j belong to its cells", (row) => {
  const { records } = read(`id,name\n${row}\n`);
  const [plant] = records.map(({ content }) => content.plant);
  expect(plant).toMatchObject(row.startsWith(" ") ? { error: 42202 } : { name: " fern" });
});

it("a quoted cell after a space is rejected with advice", () => {
  const { records } = read('id,name\n1, "fern"\n2,"moss" \n');
  const message =
    "spaces next to a delimiter belong to the cell: remove them, also in the other rows";
  expect(records.map(({ content }) => content.plant)).toMatchObject([{ message }, { message }]);
});

it("between tabs, quotes in a cell that begins without are text", () => {
  const { records } = read(
    'id\tname\n1\t5" pot\n2\t"a\tb"\n3\t="x"\n4\t"a"b\n5\tc\n',
    undefined,
    "\t",
  );
  expect(records.map(({ content }) => content.plant)).toMatchObject([
    { id: 1n, name: '5" pot' },
    { id: 2n, name: "a\tb" },
    { id: 3n, name: '="x"' },
    { error: 40001 },
    { id: 5n, name: "c" },
  ]);
});

it("a row in another encoding is rejected", () => {
  const reader = createReader();
  const records = [...reader.push(Buffer.from("id,name\n1,fougère\n2,moss\n", "latin1"))];
  expect(records).toMatchObject([
    { content: { plant: { error: 40002 } } },
    { content: { plant: { id: 2n } } },
  ]);
});

it("unknown columns are unknown members of the rows that have a cell there", () => {
  const { records } = read("id,name,Tga,\n1,a,pot,x\n2,b\n");
  expect(records.map(({ content }) => content.unknownMembers)).toEqual([["tga"], []]);
});

it.each([
  " 1",
  '"=""1014"""',
  "'1013",
  '"""7"""',
  "007",
  "+5",
  '"1,006"',
  "1 006 000",
  '"9,00720E+15"',
  "9.00720E+15",
  "1.0",
  "1.5",
])("the id %s is rejected, because a spreadsheet may have changed it", (cell) => {
  const { records } = read(`id,name\n${cell},fern\n`);
  const [record] = records;
  expect(record?.content.id).toBeUndefined();
  expect(record?.content.plant).toMatchObject({
    error: 42202,
    message: expect.stringMatching(
      /^column id must be an integer in plain digits \(got [^)]+\): a spreadsheet may have changed it, so format the column as text there$/,
    ) as string,
  });
});

it("a formula without quotes around it is rejected with advice", () => {
  const { records } = read('id,name\n="1014",fern\n');
  const message = "a cell is a formula: write its value alone";
  expect(records.map(({ content }) => content.plant)).toMatchObject([{ error: 40001, message }]);
});
