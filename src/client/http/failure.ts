/** What undici and Node throw, in our words. */
import errors from "undici/lib/core/errors.js";
import { NotAPlantStoreError, UnavailableError } from "../client-error.ts";

const lookUpCodes = /^(?:ENOTFOUND|EAI_)/;
const tlsCodes = /CERT|SIGNATURE|ISSUER|^ERR_TLS|^ERR_SSL|^EPROTO$/;

/**
 * What became of a request that failed. Errors that neither of them gave a code are bugs and stay as they are.
 *
 * @param url where the request went to
 * @param maxAnswerBytes that an answer could have
 */
export function toClientError(error: unknown, url: string, maxAnswerBytes: number): unknown {
  const options = { cause: error };
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
    return new NotAPlantStoreError(url, `its answer is not HTTP (${error.message})`, options);
  }
  if (error instanceof errors.ResponseExceededMaxSizeError) {
    const message = `its answer has more than ${maxAnswerBytes} bytes`;
    return new NotAPlantStoreError(url, message, options);
  }
  if (error instanceof errors.InvalidArgumentError || error instanceof UnavailableError) {
    return error;
  }
  if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return error;

  const { code, message } = error;
  if (code === "ECONNREFUSED") return new UnavailableError("refused", url, code, options);
  if (lookUpCodes.test(code)) return new UnavailableError("unknownHost", url, code, options);
  if (tlsCodes.test(code)) return new UnavailableError("insecure", url, message, options);
  return new UnavailableError("lost", url, message, options);
}
