/** Splits the command line of a program into words, by the quoting rules of POSIX shells but without their other features. */
import { isAbsolute } from "node:path";
import { redactTokens } from "../core/quote.ts";
import { InvalidValue } from "../library/option-types.ts";

/** Space, a quoted part of a word, an escaped character, or plain text. */
const piecePattern = /\s+|'[^']*'|"(?:[^"\\$`]|\\[^])*"|\\[^]|[^\s'"\\]+/y;
/** Characters with a meaning for a shell; the last two only at the start of a word. */
const shellCharacter = /[|&;<>()$`*?[\]]|^[~#]/;

/**
 * Splits a command line.
 *
 * @throws InvalidValue without a program, and for text that only a shell can run
 */
export function splitCommand(text: string): readonly string[] {
  if (redactTokens(text) !== text) {
    throw new InvalidValue("contains a token: name a program that prints it");
  }
  if (/\p{Cc}/u.test(text)) throw new InvalidValue("must be one line without control characters");
  const words = [...readWords(text)];
  const [program = ""] = words;
  if (program === "") {
    throw new InvalidValue('must be a program with its arguments, such as "pass show plants"');
  }
  if (/[\\/]/.test(program) && !isAbsolute(program)) {
    throw new InvalidValue("must begin with the name of a program, or with its absolute path");
  }
  return words;
}

function* readWords(text: string): Generator<string, void, undefined> {
  let word: string | undefined;
  for (let start = 0; start < text.length; start = piecePattern.lastIndex) {
    piecePattern.lastIndex = start;
    const [piece] = piecePattern.exec(text) ?? [];
    if (piece === undefined) {
      throw new InvalidValue("must have closed quotes, and no $ or ` between double quotes");
    }
    if (piece.trim() !== "") {
      word = (word ?? "") + unquote(piece, word === undefined);
    } else if (word !== undefined) {
      yield word;
      word = undefined;
    }
  }
  if (word !== undefined) yield word;
}

function unquote(piece: string, isStart: boolean): string {
  if (piece.startsWith("'")) return piece.slice(1, -1);
  if (piece.startsWith('"')) return piece.slice(1, -1).replaceAll(/\\(["\\$`])/g, "$1");
  if (piece.startsWith("\\")) return piece.slice(1);
  const [character] = shellCharacter.exec(isStart ? piece : `-${piece}`) ?? [];
  if (character === undefined) return piece;
  throw new InvalidValue(
    `contains ${character}, which only a shell understands: quote it, or use sh -c '...'`,
  );
}
