/** Reads a JSON text as the tests do: what is refused is thrown. */
import { RequestError } from "../../src/core/errors.ts";
import { type ParsedJson, readJson } from "../../src/core/json.ts";

/** @throws RequestError when it is no JSON */
export function parseJson(text: string): ParsedJson {
  const read = readJson(text);
  if (read instanceof RequestError) throw read;
  return read;
}
