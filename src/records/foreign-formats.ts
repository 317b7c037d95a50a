/** Recognizes inputs that are not plain text by their first bytes, and says how to convert them. */
import { toInputName, toShellWord } from "../core/messages.ts";

const iconv = (encoding: string) => `iconv --from-code ${encoding} --to-code UTF-8`;

/* oxlint-disable no-control-regex -- bytes */
/** First bytes as Latin-1, the name of the format, and the program that converts it, if one does: standard input, or `FILE`. */
const formats: readonly (readonly [begins: RegExp, name: string, program?: string])[] = [
  [/^\x1f\x8b/, "compressed with gzip", "gunzip --stdout"],
  [
    /^(?:\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)/,
    "compressed with zstd",
    "zstd --decompress --stdout",
  ],
  [/^\xfd7zXZ/, "compressed with xz", "xz --decompress --stdout"],
  [/^BZh[1-9][1\x17]/, "compressed with bzip2", "bzip2 --decompress --stdout"],
  [
    /^PK(?:\x03\x04|\x05\x06)/,
    "a zip file, or a spreadsheet that has to be saved as CSV UTF-8",
    "unzip -p FILE",
  ],
  [/^\xd0\xcf\x11\xe0/, "a spreadsheet"],
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

interface ForeignFormat {
  readonly name: string;
  readonly program?: string | undefined;
}

/** Finds the format of an input. @returns undefined for plain text */
export function findForeignFormat(bytes: Uint8Array): ForeignFormat | undefined {
  const start = Buffer.from(bytes.subarray(0, signatureLength)).toString("latin1");
  const [, name, program] = formats.find(([begins]) => begins.test(start)) ?? [];
  return name === undefined ? undefined : { name, program };
}

/** Files of spreadsheets that are zip files: their parts are XML, not plants. */
const spreadsheetNames = /\.(?:xls[xmb]|ods|numbers)$/i;

/**
 * Describes an input of plants or ids in another format.
 *
 * @param path `-` is standard input
 * @param command that reads the converted input from standard input
 */
export function describeForeignFormat(
  { name, program }: ForeignFormat,
  path: string,
  command: string,
): string {
  const input = toInputName(path);
  if (program === undefined || spreadsheetNames.test(path)) {
    return `${input} is a spreadsheet: save it as CSV UTF-8`;
  }
  return `${input} is ${name}: ${adviseConversion(program, path, command)}`;
}

/** Advises to convert an input with a program; parameters as in {@link describeForeignFormat}. */
export function adviseConversion(program: string, path: string, command: string): string {
  const file = path === "-" ? "FILE" : toShellWord(path);
  const source = path === "-" || program.includes("FILE") ? "" : ` < ${file}`;
  return `convert it, for example with ${program.replace("FILE", () => file)}${source} | ${command}`;
}
