/** Recognizes inputs that are not plain text by their first bytes, and names the command that converts them. */
import { toInputName, toShellWord } from "../core/messages.ts";

const iconv = (encoding: string) => `iconv --from-code ${encoding} --to-code UTF-8`;

/* oxlint-disable no-control-regex -- bytes */
/** First bytes as Latin-1, the name of the format, and the program that converts it: standard input, or `FILE`. */
const formats: readonly (readonly [begins: RegExp, name: string, program: string])[] = [
  [/^\x1f\x8b/, "compressed with gzip", "gunzip --stdout"],
  [
    /^(?:\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)/,
    "compressed with zstd",
    "zstd --decompress --stdout",
  ],
  [/^\xfd7zXZ/, "compressed with xz", "xz --decompress --stdout"],
  [/^BZh[1-9][1\x17]/, "compressed with bzip2", "bzip2 --decompress --stdout"],
  [
    /^(?:PK\x03\x04|PK\x05\x06|\xd0\xcf\x11\xe0)/,
    "a zip file, or a spreadsheet that has to be saved as CSV UTF-8",
    "unzip -p FILE",
  ],
  [/^SQLite f/, "a SQLite database", "plantstore export --store sqlite:FILE"],
  // A NUL never begins plain text.
  [/^(?:\xff\xfe\0\0|[^\0]\0\0\0)/, "UTF-32", iconv("UTF-32LE")],
  [/^\0\0(?:\xfe\xff|\0[^\0])/, "UTF-32", iconv("UTF-32BE")],
  [/^(?:\xff\xfe|[^\0]\0[^\0]\0)/, "UTF-16", iconv("UTF-16LE")],
  [/^(?:\xfe\xff|\0[^\0]\0[^\0])/, "UTF-16", iconv("UTF-16BE")],
  [/^\x1e/, "a JSON text sequence (RFC 7464)", String.raw`tr -d '\036'`],
];

/** Number of bytes that show the format of an input. */
export const signatureLength = 8;

/** @param command reads the converted input from standard input. @returns undefined for plain text */
export function findForeignFormat(
  bytes: Uint8Array,
  path: string,
  command: string,
): string | undefined {
  const start = Buffer.from(bytes.subarray(0, signatureLength)).toString("latin1");
  const [, name, program] = formats.find(([begins]) => begins.test(start)) ?? [];
  if (name === undefined || program === undefined) return undefined;
  return `${toInputName(path)} is ${name}: ${adviseConversion(program, path, command)}`;
}

export function adviseConversion(program: string, path: string, command: string): string {
  const file = path === "-" ? "FILE" : toShellWord(path);
  const source = path === "-" || program.includes("FILE") ? "" : ` < ${file}`;
  return `convert it, for example with ${program.replace("FILE", () => file)}${source} | ${command}`;
}
