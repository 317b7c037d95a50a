/** Requests with placeholders, for the examples of errors. */

/** A request with placeholders: see {@link fill}. */
export interface RequestTemplate {
  readonly method: string;
  readonly target: string;
  /** Names and values in their order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** True if each character of the body is one byte, instead of UTF-8. */
  readonly isLatin1?: true;
}

/** Values of the placeholders. */
export interface Placeholders {
  /** `$HOST`: the Host header. */
  readonly host: string;
  /** `$BASE`: the base path, such as `/v1`, or nothing. */
  readonly basePath: string;
  /** `$TOKEN`: a valid token. */
  readonly token: string;
  /** `$ID`: a free id; `$ID_1`, `$ID_2` and so on are the ids after it. */
  readonly id: bigint;
}

/**
 * Replaces the placeholders in a text. `$BIG` and `$BIG_1` are ids of 64 bits: 9000 and the digits of an id.
 */
export function fill(text: string, { host, basePath, token, id }: Placeholders): string {
  return text.replace(
    /\$(?:(HOST|BASE|TOKEN)|(ID|BIG)(?:_(\d+))?)/g,
    (_, name: string | undefined, idName: string | undefined, offset: string | undefined) => {
      if (name === undefined) {
        return `${idName === "BIG" ? "9000" : ""}${id + BigInt(offset ?? 0)}`;
      }
      return name === "HOST" ? host : name === "BASE" ? basePath : token;
    },
  );
}

const encoder = new TextEncoder();

/** A request with values for its placeholders. */
export interface FilledRequest extends Omit<RequestTemplate, "body" | "isLatin1"> {
  readonly body: Uint8Array;
}

/** Replaces the placeholders of a request. `$LENGTH` in a header is the length of the body in bytes. */
export function fillRequest(
  { method, target, headers, body, isLatin1 }: RequestTemplate,
  values: Placeholders,
): FilledRequest {
  const text = fill(body, values);
  const bytes = isLatin1
    ? Uint8Array.from(text, (character) => character.charCodeAt(0))
    : encoder.encode(text);
  return {
    method,
    target: fill(target, values),
    headers: headers.map(([name, value]) => [
      name,
      fill(value, values).replace("$LENGTH", String(bytes.length)),
    ]),
    body: bytes,
  };
}

const usualHeaders: RequestTemplate["headers"] = [
  ["Host", "$HOST"],
  ["Authorization", "Bearer $TOKEN"],
  ["Content-Type", "application/json"],
  ["Content-Length", "$LENGTH"],
];

/** Headers by name; undefined leaves a header out, a list sends it several times. */
export type HeaderChanges = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A create request. @param changes headers that differ from the usual ones, and additional headers */
export function create(body: string, changes: HeaderChanges = {}): RequestTemplate {
  const names = new Set([...usualHeaders.map(([name]) => name), ...Object.keys(changes)]);
  const usual = new Map(usualHeaders);
  const headers = [...names].flatMap((name) => {
    const values = Object.hasOwn(changes, name) ? changes[name] : usual.get(name);
    return values === undefined ? [] : [values].flat().map((value) => [name, value] as const);
  });
  return { method: "POST", target: "$BASE/plants", headers, body };
}
