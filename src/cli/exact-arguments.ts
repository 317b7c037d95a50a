/** Finds arguments that Node could not decode, so that no plant is created with another name than was typed. */

const replacementCharacter = "\uFFFD";
const strictDecoder = new TextDecoder("utf-8", { fatal: true });

/**
 * The place, counted from 1, of the first argument whose bytes are not UTF-8. Node has silently put U+FFFD in their
 * place, which is a character that may also be meant.
 *
 * @param readCommandLine as in {@link Io}; called only when there is a U+FFFD to explain
 * @returns undefined when there is none, or when the system does not tell
 */
export function findInexactArgument(
  argv: readonly string[],
  readCommandLine: () => Uint8Array | undefined,
): number | undefined {
  if (!argv.some((argument) => argument.includes(replacementCharacter))) return undefined;
  const commandLine = readCommandLine();
  if (commandLine === undefined) return undefined;
  // Before ours stand Node, its options and the script.
  const ours = splitAtNul(commandLine).slice(-argv.length);
  const index = ours.findIndex((bytes) => !isUtf8(bytes));
  return index === -1 ? undefined : index + 1;
}

function splitAtNul(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let start = 0, end; (end = bytes.indexOf(0, start)) !== -1; start = end + 1) {
    parts.push(bytes.subarray(start, end));
  }
  return parts;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
