/** Text in YAML; a file of its own, because a command rarely needs the package. */
import { stringify } from "yaml";

/** A value as YAML: lines of text are not broken, and a bigint keeps its digits. */
export function toYaml(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
