/** Describes why TLS failed, and what to change. */
import type { PeerCertificate } from "node:tls";
import { toEndpoint } from "../core/base-url.ts";
import { quoteInput } from "../core/messages.ts";

/** Codes for a certificate without a trusted issuer (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const untrustedCodes =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?)$/;
/** The code for a certificate that the server sends alone, and that another one issued. */
const leafAloneCode = "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
/** Reasons that OpenSSL reports when the server responds without TLS. */
const noTlsReasons = /^(?:wrong version number|packet length too long)$/;
/** Message of OpenSSL: number, library, function, reason, source file and line. */
const opensslMessage = /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/;
/** Limit for the names in a message; a certificate can have a hundred. */
const maxNamesLength = 200;

/**
 * Describes a failure of TLS, with advice.
 *
 * @param error of Node; `cert` is the certificate of another host
 * @param request its URL, and the trusted certificates
 */
export function describeTlsFailure(
  { message, cert }: Error & { readonly cert?: Partial<PeerCertificate> },
  code: string,
  { url, ca }: { readonly url: string; readonly ca?: string | undefined },
): string {
  if (untrustedCodes.test(code)) {
    const [authority, variable] =
      ca === undefined
        ? ["a trusted authority", " or NODE_EXTRA_CA_CERTS=FILE"]
        : ["one of the given authorities", ""];
    const advice = `add its authority with --cacert FILE${variable}`;
    const problem = `its certificate is not signed by ${authority} (${code})`;
    return code === leafAloneCode
      ? `${problem}, and the server sends no intermediate certificate: let it send the whole chain (fullchain.pem), or ${advice}`
      : `${problem}: ${advice}`;
  }
  if (code === "CERT_HAS_EXPIRED") {
    return "its certificate, or that of its authority, has expired: renew it on the server";
  }
  if (cert !== undefined) {
    // Node 26: "DNS:" for none.
    const names = quoteInput(
      cert.subjectaltname?.replace(/^DNS:$/, "") || "no name",
      maxNamesLength,
    );
    return `its certificate is for ${names}, not for ${new URL(url).hostname}: use a name of the certificate in the URL`;
  }
  const [, reason = message || code] = opensslMessage.exec(message) ?? [];
  return noTlsReasons.test(reason)
    ? `this is a port without TLS: try ${toEndpoint(url).origin.replace("https:", "http:")}`
    : reason;
}
