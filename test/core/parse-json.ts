/** Parses JSON, and throws errors instead of returning them. */
import { RequestError } from "../../src/core/errors.ts";
import { type ParsedJson, readJson } from "../../src/core/json.ts";

/** Keeps all members of the outermost object. @throws RequestError when the text is not JSON */
export function parseJson(text: string): ParsedJson {
  const read = readJson(text, () => true);
  if (read instanceof RequestError) throw read;
  return read;
}
