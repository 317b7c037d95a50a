/** Formats YAML. A file of its own: the package is CommonJS, which a bundle can load on demand only through a module. */
import { stringify } from "yaml";

/** Does not break lines of text, and keeps the digits of a bigint. */
export function toYaml(document: object): string {
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}
