/** Self-signed certificates for tests: Node creates keys, but no certificates (RFC 5280 section 4.1, in DER). */
import { generateKeyPairSync, sign } from "node:crypto";

/** A certificate and its key, both PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const sequence = 0x30;
const ecdsaWithSha256 = encode(sequence, encode(0x06, Buffer.from("2a8648ce3d040302", "hex")));
const commonNameId = encode(0x06, Buffer.from("550403", "hex"));
const subjectAltNameId = encode(0x06, Buffer.from("551d11", "hex"));

/** Creates a certificate for one host name, valid until 2049. */
export function createCertificate(hostName: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = encode(
    sequence,
    encode(0x31, encode(sequence, commonNameId, encode(0x0c, Buffer.from(hostName)))),
  );
  const alternativeNames = encode(sequence, encode(0x82, Buffer.from(hostName)));
  const content = encode(
    sequence,
    encode(0xa0, encode(0x02, Buffer.from([2]))),
    encode(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    encode(sequence, toTime("200101000000Z"), toTime("491231235959Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    encode(
      0xa3,
      encode(sequence, encode(sequence, subjectAltNameId, encode(0x04, alternativeNames))),
    ),
  );
  const signature = encode(0x03, Buffer.from([0]), sign("sha256", content, privateKey));
  const der = encode(sequence, content, ecdsaWithSha256, signature);
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** Encodes a DER value: its tag, its length and its parts. */
function encode(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}

function toTime(time: string): Buffer {
  return encode(0x17, Buffer.from(time));
}
