/** Formats plants for printing: their columns and their JSON. */
import { type NewPlant, toNewPlantJson } from "../../../core/plant.ts";
import type { RowType } from "../../terminal/rows.ts";

/** Plants as rows. Their CSV is an input of `create --csv`. */
export const plantRows: RowType<NewPlant> = {
  columns: [
    { name: "id", read: ({ id }) => `${id}`, isNumber: true },
    { name: "name", read: ({ name }) => name, cut: { share: 2, minWidth: 12 } },
    { name: "tag", read: ({ tag }) => tag, cut: { share: 1, minWidth: 8 } },
  ],
  toJson: toNewPlantJson,
};
