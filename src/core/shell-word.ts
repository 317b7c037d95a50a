/** Text as one word of a command that people copy into a shell. */

/** What no shell reads as anything but itself. */
const plainWord = /^[\w@%+:,./-]+$/;

/** Quoted where it has to be, by the rules of POSIX (XCU section 2.2), which bash, zsh and fish have too. */
export function toShellWord(text: string): string {
  return plainWord.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
