import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CsvFraming } from "../../../src/client/records/csv-framing.ts";
import { toNewPlantJson } from "../../../src/core/plant.ts";
import { requestErrorOf } from "../../core/request-error-of.ts";

/** The records of a table that comes in pieces of a size. */
function frame(
  input: string,
  pieceSize = input.length + 9,
  delimiter: "," | "\t" = ",",
  max = 1000,
) {
  const framing = new CsvFraming(delimiter, max);
  const bytes = Buffer.from(input);
  const records = [];
  for (let at = 0; at < bytes.length; at += pieceSize) {
    records.push(...framing.push(bytes.subarray(at, at + pieceSize)));
  }
  records.push(...framing.end());
  return { records, framing };
}

/** The line and the bytes of each record. */
function rowsOf(input: string, pieceSize?: number): [line: number, text: string][] {
  const { records } = frame(input, pieceSize);
  return records.map(({ line, bytes }) => [line, Buffer.from(bytes).toString()]);
}

describe("the rows of a table", () => {
  it.each<[what: string, input: string, rows: [line: number, text: string][]]>([
    ["nothing", "", []],
    ["a header alone", "id,name", []],
    ["rows without an end", "id,name\n1,a", [[2, "1,a"]]],
    ["blank rows", "\n\nid,name\r\n\r\n1,a\r\n \n", [[5, "1,a\r"]]],
    [
      "line breaks in quotes",
      'id,name\n1,"a\n\n"",b"\n2,c\n',
      [
        [2, '1,"a\n\n"",b"'],
        [5, "2,c"],
      ],
    ],
    [
      "quotes in a cell that began without, which are a mistake of that row alone",
      'id,name\n1,5" x\n2,c\n',
      [
        [2, '1,5" x'],
        [3, "2,c"],
      ],
    ],
    ["a header with quotes after a byte order mark", '\uFEFF"i\nd",id,name\n1,1,a', [[3, "1,1,a"]]],
  ])("%s", (_what, input, rows) => {
    expect(rowsOf(input)).toEqual(rows);
    expect(rowsOf(input, 1), "byte by byte").toEqual(rows);
  });

  it("are the plants that were written, whatever is in them", () => {
    const text = fc.string({
      unit: fc.constantFrom(",", '"', "\n", "\r", "\t", "a", "é", "\uFEFF", "🌱"),
    });
    const plant = fc.record({ id: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), name: text, tag: text });
    const quote = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(
        fc.array(plant),
        fc.constantFrom("," as const, "\t" as const),
        fc.integer({ min: 1, max: 20 }),
        (plants, delimiter, pieceSize) => {
          const rows = plants.map(({ id, name, tag }) =>
            [quote(name), String(id), quote(tag)].join(delimiter),
          );
          const input = [["name", "id", "tag"].join(delimiter), ...rows].join("\r\n");
          const { records } = frame(input, pieceSize, delimiter);
          expect(records.map(({ parse }) => toNewPlantJson(parse()))).toEqual(
            plants.map(toNewPlantJson),
          );
        },
      ),
    );
  });

  it("know where the part begins that was not taken", () => {
    const framing = new CsvFraming(",", 1000);
    const lines = [];
    for (const { line } of framing.push(Buffer.from('id,name\n1,"\n"\n2,b\n3'))) {
      lines.push([line, framing.line]);
    }
    expect(lines).toEqual([
      [2, 4],
      [4, 5],
    ]);
  });

  it("that are too large are refused, and the others go on", () => {
    const { records } = frame(`id,name\n1,${"x".repeat(200)}\n2,b\n`, 10, ",", 100);
    expect(records.map(({ bytes }) => bytes.length)).toEqual([0, 3]);
    expect(requestErrorOf(records[0]!.parse).error).toBe(41300);
  });
});

it("the header is kept as it stands, for a table of some of the rows", () => {
  const { framing } = frame("\uFEFFname,id \r\na,1\r\n");
  expect(Buffer.from(framing.header?.bytes ?? []).toString()).toBe("\uFEFFname,id \r");
});
