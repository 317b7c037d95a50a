/** Recognizes inputs that have no records as they are, by their first bytes. */

const create = "plantstore create - (add --csv for a table)";
const decompress = (format: string, command: string): string =>
  `is compressed with ${format}: decompress it, for example with ${command} FILE | ${create}`;
const convert = (name: string, order: "LE" | "BE"): string =>
  `is ${name}: convert it to UTF-8, for example with iconv --from-code ${name}${order} --to-code UTF-8 FILE | ${create}`;

/* oxlint-disable no-control-regex -- bytes */
/** First bytes of other formats as Latin-1, and what to do. */
const formats: readonly (readonly [begins: RegExp, advice: string])[] = [
  [/^\x1f\x8b/, decompress("gzip", "gunzip --stdout")],
  [
    /^(?:\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)/,
    decompress("zstd", "zstd --decompress --stdout"),
  ],
  [/^\xfd7zXZ/, decompress("xz", "xz --decompress --stdout")],
  [/^BZh[1-9][1\x17]/, decompress("bzip2", "bzip2 --decompress --stdout")],
  [
    /^(?:PK\x03\x04|PK\x05\x06|\xd0\xcf\x11\xe0)/,
    `is a spreadsheet or a zip file: save the spreadsheet as CSV UTF-8, or extract the file, for example with unzip -p FILE | ${create}`,
  ],
  [
    /^SQLite f/,
    "is a store or another file of SQLite: send its plants with plantstore export --store sqlite:FILE | plantstore create --many -",
  ],
  // A NUL never begins plain text.
  [/^(?:\xff\xfe\0\0|[^\0]\0\0\0)/, convert("UTF-32", "LE")],
  [/^\0\0(?:\xfe\xff|\0[^\0])/, convert("UTF-32", "BE")],
  [/^(?:\xff\xfe|[^\0]\0[^\0]\0)/, convert("UTF-16", "LE")],
  [/^(?:\xfe\xff|\0[^\0]\0[^\0])/, convert("UTF-16", "BE")],
  [
    /^\x1e/,
    String.raw`is a JSON text sequence (RFC 7464): remove its separators, for example with tr -d '\036' < FILE | plantstore create --many -`,
  ],
];

/** Number of bytes that show the format of an input, which may arrive in smaller pieces. */
export const signatureLength = 8;

/** Returns what an input in another format is, and what to do; undefined for plain text. */
export function findOtherFormat(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, signatureLength)).toString("latin1");
  return formats.find(([begins]) => begins.test(start))?.[1];
}
