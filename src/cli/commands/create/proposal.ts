/** Proposes a command to users who pass a plant where a file is expected. */
import { toShellWord } from "../../../core/quote.ts";
import { CommandError } from "../../command-error.ts";
import { plantOptions } from "../../options.ts";

/** Longest JSON that a proposal repeats, in UTF-16 code units. */
const maxJsonLength = 200;

/**
 * Adds the command that was probably meant to the error of a file that cannot be read.
 *
 * @param operands of the command line
 * @returns the error itself if the operands look like files
 */
export function proposeCommand(operands: readonly string[], error: CommandError): CommandError {
  const command = toPipe(operands) ?? toMembers(operands) ?? toWords(operands);
  if (command === undefined) return error;
  const message = `an argument is a file, and ${error.message}`;
  const hints = [`To create a plant: ${command}`];
  return new CommandError("usage", message, { cause: error.cause, hints });
}

/** For JSON, which the shell may have split. */
function toPipe(operands: readonly string[]): string | undefined {
  const json = operands.join(" ");
  if (!/^\s*[[{]/.test(json)) return undefined;
  const shown = json.length > maxJsonLength || json.includes("\\") ? "JSON" : toShellWord(json);
  return `echo ${shown} | plantstore create -`;
}

/** For `id=5 name=fern`. */
function toMembers(operands: readonly string[]): string | undefined {
  const members = operands.map((operand) => /^-*(\w+)[=:](.*)$/s.exec(operand) ?? []);
  const isPlant = members.every(([, name = ""]) => Object.hasOwn(plantOptions, name));
  if (!isPlant) return undefined;
  return toCommand(Object.fromEntries(members.map(([, name = "", value = ""]) => [name, value])));
}

/** For `fern` or `5 fern`. Paths have a dot or a slash. */
function toWords(operands: readonly string[]): string | undefined {
  if (operands.some((operand) => operand === "" || /[./\\]|^-$/.test(operand))) return undefined;
  const ids = operands.filter((operand) => /^-?\d+$/.test(operand));
  const words = operands.filter((operand) => !ids.includes(operand));
  const [id = "1"] = ids;
  return ids.length > 1 ? undefined : toCommand({ id, name: words.join(" ") || "fern" });
}

function toCommand(members: Readonly<Record<string, string>>): string {
  const plant = { id: "1", name: "fern", ...members };
  const flags = Object.entries(plant).map(([name, value]) => `--${name} ${toShellWord(value)}`);
  return `plantstore create ${flags.join(" ")}`;
}
