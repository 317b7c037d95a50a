/** Quotes text as one word of a shell command. */

/** Text without special characters of any shell. */
const plainWord = /^[\w@%+:,./-]+$/;

/** Quotes text if necessary, by the rules of POSIX (XCU section 2.2), which also hold for bash and zsh. */
export function toShellWord(text: string): string {
  return plainWord.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
