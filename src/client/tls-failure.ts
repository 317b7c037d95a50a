/** Describes why TLS failed, and what to change. */
import { isIP } from "node:net";
import { connect, type PeerCertificate } from "node:tls";
import { toEndpoint } from "../core/base-url.ts";
import { joinWords } from "../core/messages.ts";

/** Codes for a certificate without a trusted issuer (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const untrustedCodes =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?)$/;
/** The code for a certificate that the server sends alone, and that another one issued. */
const leafAloneCode = "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
/** Reasons that OpenSSL reports when the server responds without TLS. */
const noTlsReasons = /^(?:wrong version number|packet length too long)$/;
/** Message of OpenSSL: number, library, function, reason, source file and line. */
const opensslMessage = /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/;

/**
 * Describes a failure of TLS, with advice. Connects once more to read the date of an expired certificate.
 *
 * @param error of Node; `cert` is the certificate of another host
 * @param request its URL, and the trusted certificates
 */
export async function describeTlsFailure(
  { message, cert }: Error & { readonly cert?: Partial<PeerCertificate> },
  code: string,
  { url, ca }: { readonly url: string; readonly ca?: string | undefined },
): Promise<string> {
  if (untrustedCodes.test(code)) {
    const [authority, variable] =
      ca === undefined
        ? ["a trusted authority", " or NODE_EXTRA_CA_CERTS=FILE"]
        : ["one of the given authorities", ""];
    const advice = `add its authority with --cacert FILE (ca in a program)${variable}`;
    const problem = `its certificate is not signed by ${authority} (${code})`;
    return code === leafAloneCode
      ? `${problem}, and the server sends no intermediate certificate: let it send the whole chain (fullchain.pem), or ${advice}`
      : `${problem}: ${advice}`;
  }
  if (code === "CERT_HAS_EXPIRED") return describeExpired(url);
  if (cert !== undefined) return describeNames(cert, new URL(url).hostname);
  const [, reason = message || code] = opensslMessage.exec(message) ?? [];
  return noTlsReasons.test(reason)
    ? `this is a port without TLS: try ${toEndpoint(url).origin.replace("https:", "http:")}`
    : reason;
}

/** Maximum number of names in a message; a certificate can have a hundred. */
const maxNames = 10;

function describeNames({ subjectaltname = "", subject }: Partial<PeerCertificate>, host: string) {
  const names = [...subjectaltname.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(
    ([, name = ""]) => name,
  );
  // Without alternative names, Node compares the common name.
  if (subjectaltname === "" && subject?.CN) names.push(...[subject.CN].flat());
  if (names.length === 0) return "its certificate names no host: replace it on the server";
  const others = names.length - maxNames;
  const shown = others > 0 ? [...names.slice(0, maxNames), `${others} more`] : names;
  const [list, choice] =
    names.length === 1 ? [names[0], "this name"] : [joinWords(shown), "one of these names"];
  return `its certificate is for ${list}, not for ${host}: use ${choice} in the URL`;
}

async function describeExpired(url: string): Promise<string> {
  const endMs = Date.parse((await readCertificate(url))?.valid_to ?? "");
  // A certificate of an authority may be the one that has expired.
  return endMs < Date.now()
    ? `its certificate expired on ${new Date(endMs).toISOString().slice(0, 10)}: renew it on the server`
    : "its certificate, or that of its authority, has expired: renew it on the server";
}

/** Limit for the connection, in milliseconds. */
const timeoutMs = 1000;

/** Reads the certificate of a server, whatever it is, and sends nothing. @returns undefined without one */
function readCertificate(url: string): Promise<PeerCertificate | undefined> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      ...(isIP(host) === 0 && { servername: host }),
      rejectUnauthorized: false,
    });
    const finish = (certificate?: PeerCertificate): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(certificate);
    };
    const timer = setTimeout(finish, timeoutMs);
    socket.on("error", () => finish());
    socket.on("secureConnect", () => finish(socket.getPeerCertificate()));
  });
}
