/** Reads the arguments of a command where nothing about them is in question. */

/** The arguments of a command. */
export interface PlainArguments<Flags> {
  /** By the names that commander gives them: `tokenFile` for `--token-file`. A switch is `true`. */
  readonly flags: Flags;
  readonly operands: readonly string[];
}

/**
 * Reads `--flag value`, `--flag=value`, switches and operands, each flag once: just as commander does, which has to be
 * asked about all else, and alone says what is wrong.
 *
 * @param words what follows the name of the command
 * @param options those of it that `Flags` has, as help shows them: `--id <integer>`, or `--many` for a switch
 * @returns undefined when that is not all there is
 */
export function readPlainArguments<Flags>(
  words: readonly string[],
  options: readonly string[],
): PlainArguments<Flags> | undefined {
  const flags: Record<string, string | true> = {};
  const operands: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "-" || !word.startsWith("-")) {
      operands.push(word);
      continue;
    }
    const [, flag = word, attached] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const option = options.find((each) => each.replace(/^-\w, | .*$/g, "") === flag);
    if (option === undefined) return undefined;
    const isSwitch = option.endsWith(flag);
    if (isSwitch ? attached !== undefined : !option.endsWith(">")) return undefined;
    const value = isSwitch || (attached ?? words[(index += 1)]);
    const name = toName(flag);
    if (value === undefined || Object.hasOwn(flags, name)) return undefined;
    flags[name] = value;
  }
  return { flags: flags as Flags, operands };
}

function toName(flag: string): string {
  return flag.slice("--".length).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
