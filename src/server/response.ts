/** Responses as values: plants, errors and failures as status, headers and body. */
import { type OperationId, resultHeader } from "../core/contract.ts";
import { type HeaderPairs, RequestError, type StatusMode, toStatus } from "../core/errors.ts";
import { type Plant, toPlantJson } from "../core/plant.ts";
import {
  type Committed,
  StoreError,
  type StoreKind,
  type SuccessfulResult,
} from "../core/store.ts";

type HeaderPair = HeaderPairs[number];

/** The response of an operation. */
export interface ServerResponse {
  readonly status: number;
  /** Bytes if it is large: strings of a page live so long that the heap grew by 200 MB. */
  readonly body: string | Buffer;
  /** Media type; JSON if absent. */
  readonly contentType?: string;
  /** In addition to those that every response has. */
  readonly headers: HeaderPairs;
  /** Error number of an Error body. */
  readonly error?: number | undefined;
  /** Result of a create. */
  readonly result?: SuccessfulResult | undefined;
  /** Commit of a plant that is stored or deleted. */
  readonly commit?: Committed<SuccessfulResult | "deleted"> | undefined;
  /** The part that the client does not get, because of a fault: its connection is closed instead. */
  readonly lost?: "all" | "half" | undefined;
}

/** An operation of the table, or OPTIONS on its path. */
export type RoutedOperation = OperationId | "options";

/** A complete response; only the date and the headers about the connection are added when it is sent. */
export interface CompleteResponse extends ServerResponse {
  /** Length of the body, in bytes of UTF-8. */
  readonly bodyBytes: number;
  readonly requestId: string;
  /** Absent for an unknown path, and for bytes that are not a request. */
  readonly operation: RoutedOperation | undefined;
}

/** Response to a create whose plant is stored (contract.md "Given"). */
export function toPlantResponse(plant: Plant, commit: Committed<SuccessfulResult>): ServerResponse {
  const { result } = commit;
  return { status: 200, body: toPlantJson(plant), headers: resultHeaders[result], result, commit };
}

const resultHeaders = {
  created: [[resultHeader, "created"]],
  unchanged: [[resultHeader, "unchanged"]],
  replaced: [[resultHeader, "replaced"]],
} as const;

/**
 * Response with a page of plants.
 *
 * @param body their JSON
 * @param next the parameters of the next page (RFC 8288); undefined if no plant follows
 */
export function toPlantsResponse(
  body: Buffer,
  next: { readonly limit: number; readonly after: bigint } | undefined,
): ServerResponse {
  const headers: HeaderPairs =
    next === undefined ? [] : [["Link", `<?limit=${next.limit}&after=${next.after}>; rel="next"`]];
  return { status: 200, body, headers };
}

/** Response to a delete. */
export function toDeletedResponse(commit: Committed<"deleted">): ServerResponse {
  return { status: 204, body: "", headers: [], commit };
}

/**
 * Response of the health checks.
 *
 * @param storeKind the response says if it is `memory`
 */
export function toStatusResponse(status: "ok" | "ready", storeKind?: StoreKind): ServerResponse {
  const body = JSON.stringify({ status, ...(storeKind === "memory" && { store: storeKind }) });
  return { status: 200, body, headers: [] };
}

/** Response to OPTIONS. */
export function toOptionsResponse(allow: string): ServerResponse {
  return { status: 204, body: "", headers: [["Allow", allow]] };
}

/** Response to a rejected or failed request. */
export function toErrorResponse(
  error: RequestError,
  mode: StatusMode = "contract",
): ServerResponse {
  const body = JSON.stringify({ error: error.error, message: error.message });
  const status = toStatus(error.kind, mode);
  return { status, body, headers: error.headers, error: error.error };
}

const jsonType: HeaderPair = ["Content-Type", "application/json"];
const notStored: HeaderPair = ["Cache-Control", "no-store"];
const notSniffed: HeaderPair = ["X-Content-Type-Options", "nosniff"];

/** Completes a response with the headers that every response has. */
export function toCompleteResponse(
  response: ServerResponse,
  requestId: string,
  operation: RoutedOperation | undefined,
): CompleteResponse {
  const { status, body, contentType, error, result, commit, lost } = response;
  const bodyBytes = Buffer.byteLength(body);
  const type: HeaderPair = contentType === undefined ? jsonType : ["Content-Type", contentType];
  // 204 has no content, not even an empty one (RFC 9110 section 8.6).
  const headers = status === 204 ? [] : [type, ["Content-Length", `${bodyBytes}`] as const];
  headers.push(notStored, notSniffed, ["X-Request-Id", requestId]);
  // Not spreads: they take a microsecond.
  for (const header of response.headers) headers.push(header);
  return { status, body, headers, error, result, commit, lost, bodyBytes, requestId, operation };
}

/** Error for a request that comes before the server has its store. */
export const serverStarting = new RequestError("overloaded", "the server is starting: try again");

const storageBusy = new RequestError("overloaded", "the storage is busy: try again");

/** Error for a request that comes after the server began to stop. */
export const serverStopping = new RequestError("shuttingDown", "the server is stopping: try again");

/** Error for a change whose result the server does not know: it has reached the store. */
export const outcomeUnknown = new RequestError(
  "outcomeUnknown",
  "the outcome is unknown: send it again",
);

/**
 * Describes a failure without its details, which may name paths of the machine.
 *
 * @param isChange true for a change that has reached the store
 */
export function describeSystemFailure(error: unknown, isChange = false): RequestError {
  switch (error instanceof StoreError ? error.reason : undefined) {
    case "full":
    case "readOnly":
      return new RequestError("storageFull", "the storage is full or read-only: try again later");
    case "busy":
      // An attempt of its commit may have been lost before the last one found the store busy.
      return isChange ? outcomeUnknown : storageBusy;
    case "closed":
      return serverStopping;
    default:
      return new RequestError("unexpected", "the server failed unexpectedly: try again");
  }
}
