/** Recognizes inputs that have no records as they are, by their first bytes. */
import { toShellWord } from "../core/messages.ts";

const create = "plantstore create - (add --csv for a table)";

/** Tells what an input in another format is, and what to do. @param path `-` is standard input */
type Advice = (path: string) => string;

/** The command line of a program that reads an input. In a pipe, the user puts it before the command that reads now. */
export function toFilter(program: string, path: string): string {
  return path === "-" ? program : `${program} < ${toShellWord(path)}`;
}

const decompress =
  (format: string, program: string): Advice =>
  (path) =>
    `is compressed with ${format}: decompress it, for example with ${toFilter(program, path)} | ${create}`;
const convert =
  (name: string, order: "LE" | "BE"): Advice =>
  (path) =>
    `is ${name}: convert it to UTF-8, for example with ${toFilter(`iconv --from-code ${name}${order} --to-code UTF-8`, path)} | ${create}`;

/* oxlint-disable no-control-regex -- bytes */
/** First bytes of other formats as Latin-1, and what to do. */
const formats: readonly (readonly [begins: RegExp, advice: Advice])[] = [
  [/^\x1f\x8b/, decompress("gzip", "gunzip --stdout")],
  [
    /^(?:\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)/,
    decompress("zstd", "zstd --decompress --stdout"),
  ],
  [/^\xfd7zXZ/, decompress("xz", "xz --decompress --stdout")],
  [/^BZh[1-9][1\x17]/, decompress("bzip2", "bzip2 --decompress --stdout")],
  [
    /^(?:PK\x03\x04|PK\x05\x06|\xd0\xcf\x11\xe0)/,
    (path) =>
      `is a spreadsheet or a zip file: save the spreadsheet as CSV UTF-8, or extract the file, for example with unzip -p ${path === "-" ? "FILE" : toShellWord(path)} | ${create}`,
  ],
  [
    /^SQLite f/,
    (path) =>
      `is a store or another file of SQLite: send its plants with plantstore export --store ${path === "-" ? "sqlite:FILE" : toShellWord(`sqlite:${path}`)} | plantstore create --many -`,
  ],
  // A NUL never begins plain text.
  [/^(?:\xff\xfe\0\0|[^\0]\0\0\0)/, convert("UTF-32", "LE")],
  [/^\0\0(?:\xfe\xff|\0[^\0])/, convert("UTF-32", "BE")],
  [/^(?:\xff\xfe|[^\0]\0[^\0]\0)/, convert("UTF-16", "LE")],
  [/^(?:\xfe\xff|\0[^\0]\0[^\0])/, convert("UTF-16", "BE")],
  [
    /^\x1e/,
    (path) =>
      `is a JSON text sequence (RFC 7464): remove its separators, for example with ${toFilter(String.raw`tr -d '\036'`, path)} | plantstore create --many -`,
  ],
];

/** Number of bytes that show the format of an input, which may arrive in smaller pieces. */
export const signatureLength = 8;

/** Returns what an input in another format is, and what to do; undefined for plain text. @param path `-` is standard input */
export function findOtherFormat(bytes: Uint8Array, path: string): string | undefined {
  const start = Buffer.from(bytes.subarray(0, signatureLength)).toString("latin1");
  return formats.find(([begins]) => begins.test(start))?.[1](path);
}
