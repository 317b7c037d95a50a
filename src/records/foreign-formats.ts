/** Recognizes inputs that are not plain text by their first bytes, and finds a program that converts them. */
import { toShellWord } from "../core/messages.ts";

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

/** Files of spreadsheets that are zip files: their parts are XML, not plants. */
const spreadsheetNames = /\.(?:xls[xmb]|ods|numbers)$/i;

interface ForeignFormat {
  readonly name: string;
  /** A shell command that writes the input as text. */
  readonly conversion?: string | undefined;
}

/**
 * Finds the format of an input.
 *
 * @param path `-` is standard input
 * @returns undefined for plain text
 */
export function findForeignFormat(bytes: Uint8Array, path: string): ForeignFormat | undefined {
  const start = Buffer.from(bytes.subarray(0, signatureLength)).toString("latin1");
  const [, name, program] = formats.find(([begins]) => begins.test(start)) ?? [];
  if (name === undefined) return undefined;
  if (program === undefined || spreadsheetNames.test(path)) return { name: "a spreadsheet" };
  const file = path === "-" ? "FILE" : toShellWord(path);
  const source = path === "-" || program.includes("FILE") ? "" : ` < ${file}`;
  return { name, conversion: program.replace("FILE", () => file) + source };
}
