/** Certificates for tests: Node creates keys, but no certificates (RFC 5280 section 4.1, in DER). */
import { generateKeyPairSync, sign } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A certificate and its key, both PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const sequence = 0x30;
const ecdsaWithSha256 = encode(sequence, encode(0x06, Buffer.from("2a8648ce3d040302", "hex")));
const subjectAltNameId = encode(0x06, Buffer.from("551d11", "hex"));

/**
 * Creates a certificate for host names, valid until 2049 or until a time that is to the second.
 *
 * @param issuer signs it; by default it signs itself
 */
export function createCertificate(
  hostNames: string | readonly string[],
  endMs = Date.UTC(2049, 11, 31, 23, 59, 59),
  issuer?: { readonly name: string; readonly key: string },
): Certificate {
  const names = [hostNames].flat();
  const [hostName = ""] = names;
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const alternativeNames = encode(
    sequence,
    ...names.map((each) => encode(0x82, Buffer.from(each))),
  );
  const content = encode(
    sequence,
    encode(0xa0, encode(0x02, Buffer.from([2]))),
    encode(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    toDistinguishedName(issuer?.name ?? hostName),
    encode(sequence, toTime(Date.UTC(2020)), toTime(endMs)),
    toDistinguishedName(hostName),
    publicKey.export({ type: "spki", format: "der" }),
    encode(
      0xa3,
      encode(sequence, encode(sequence, subjectAltNameId, encode(0x04, alternativeNames))),
    ),
  );
  const signature = encode(
    0x03,
    Buffer.from([0]),
    sign("sha256", content, issuer?.key ?? privateKey),
  );
  const der = encode(sequence, content, ecdsaWithSha256, signature);
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** Writes a certificate for localhost to a directory. @returns its files, and the flags of `serve` that name them */
export async function writeCertificate(directory: string) {
  const [certFile, keyFile] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const { cert, key } = createCertificate("localhost");
  await writeFile(certFile, cert);
  await writeFile(keyFile, key, { mode: 0o600 });
  return { certFile, flags: ["--tls-cert", certFile, "--tls-key", keyFile] };
}

const attributeIds: Readonly<Record<string, string>> = { C: "550406", O: "55040a", CN: "550403" };

/** @param name a common name, or attributes as Node shows them, one in each line */
function toDistinguishedName(name: string): Buffer {
  const lines = name.includes("=") ? name.split("\n") : [`CN=${name}`];
  const attributes = lines.map((line) => {
    const [type = "", value = ""] = line.split("=");
    const id = encode(0x06, Buffer.from(attributeIds[type] ?? "", "hex"));
    return encode(0x31, encode(sequence, id, encode(0x0c, Buffer.from(value))));
  });
  return encode(sequence, ...attributes);
}

/** Encodes a DER value: its tag, its length and its parts. */
function encode(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}

function toTime(timeMs: number): Buffer {
  const digits = new Date(timeMs).toISOString().replaceAll(/\D/g, "").slice(2, -3);
  return encode(0x17, Buffer.from(`${digits}Z`));
}
