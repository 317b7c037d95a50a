/** Plants as a table, for a person at a terminal. */
import type { NewPlant } from "../../core/plant.ts";
import { fitText, toTextWidth } from "./text-width.ts";

/** A line; texts as they are, not yet fitted. */
interface Row {
  readonly id: string;
  readonly name: string;
  readonly tag: string;
}

const gap = "  ";
/** Of a terminal that does not tell. */
const usualColumns = 80;
/** In less room a text says nothing: then the terminal had better break the line. */
const minNameWidth = 12;
const minTagWidth = 8;

/**
 * A line of headings, and one for each plant; ids stand below each other by their last digit. Names and tags that are too
 * long for the terminal are cut. An empty one is `""`, no tag is nothing.
 *
 * @param columns of the terminal; 0 or undefined where it does not tell
 */
export function toPlantTable(plants: readonly NewPlant[], columns: number | undefined): string {
  const rows: readonly Row[] = [
    { id: "ID", name: "NAME", tag: "TAG" },
    ...plants.map(({ id, name, tag }) => ({ id: `${id}`, name: toCell(name), tag: toCell(tag) })),
  ];
  const idWidth = Math.max(...rows.map(({ id }) => id.length));
  const room = Math.max(
    (columns || usualColumns) - idWidth - 2 * gap.length,
    minNameWidth + minTagWidth,
  );
  const widestName = findWidest(rows, "name", room);
  const widestTag = findWidest(rows, "tag", room);
  // A third for the tags, and what the names leave.
  const roomForTag = Math.max(minTagWidth, Math.floor(room / 3), room - widestName);
  const tagWidth = Math.min(widestTag, roomForTag);
  const nameWidth = Math.min(widestName, room - tagWidth);

  const lines = rows.map(({ id, name, tag }) => {
    const beginning = `${id.padStart(idWidth)}${gap}`;
    const shownName = fitText(name, nameWidth);
    if (tag === "") return `${beginning}${shownName}\n`;
    const padding = " ".repeat(nameWidth - toTextWidth(shownName));
    return `${beginning}${shownName}${padding}${gap}${fitText(tag, tagWidth)}\n`;
  });
  return lines.join("");
}

function toCell(text: string | undefined): string {
  if (text === undefined) return "";
  return text === "" ? '""' : text;
}

/** The width of the widest text in a column, as far as there is room. */
function findWidest(rows: readonly Row[], column: keyof Row, room: number): number {
  return Math.max(...rows.map((row) => toTextWidth(fitText(row[column], room))));
}
