/** Options of a server. */
import type { Authenticator } from "../auth/authenticator.ts";
import type { StatusMode } from "../core/errors.ts";
import type { ConflictPolicy, PlantStore } from "../core/store.ts";
import type { ServerLimits } from "./admission.ts";
import type { Faults } from "./faults.ts";
import type { ListenAddress } from "./http/listen.ts";
import type { Metrics } from "./ops/metrics.ts";
import type { RequestRecord } from "./ops/request-record.ts";

/** The store and the token check of a server. */
export interface ServerBackend {
  readonly store: Pick<PlantStore, "create" | "checkWritable" | "isVolatile">;
  readonly authenticator: Pick<Authenticator, "isFresh" | "refresh" | "check">;
}

/** Certificate of the server, in PEM. */
export interface TlsCertificate {
  /** The certificate, followed by intermediate certificates. */
  readonly cert: string;
  readonly key: string;
}

/** Options for {@link openPlantServer}. */
export interface PlantServerOptions extends ServerLimits, ListenAddress {
  /** `false` opens no socket: requests come only through `PlantServer.fetch`. */
  readonly listen?: boolean;
  /** Certificate for HTTPS; plain HTTP without it. */
  readonly certificate?: TlsCertificate | undefined;
  /** Prefix of `/plants`: empty, or with a leading and without a trailing slash. */
  readonly basePath: string;
  /** Policy for a create whose id belongs to a different plant. */
  readonly onConflict: ConflictPolicy;
  /** Status of failed creates; by default `contract`, which is 400. */
  readonly statusMode?: StatusMode | undefined;
  /** Faults of creates, for tests of clients; none without it. */
  readonly faults?: Pick<Faults, "perform" | "stop" | "maxDelayMs"> | undefined;
  /** URL that clients use, including the base path, if it differs from the listening address. */
  readonly publicUrl?: string | undefined;
  /** `false` disables the documentation page at `/` and `/docs`. */
  readonly docs?: boolean;
  /** Origins that may use the server from a browser, or `*`. */
  readonly corsOrigins?: readonly string[];
  /** Receives every unexpected error and every failure of the store. Must not throw. */
  readonly onError: (error: unknown) => void;
  /** Receives a record of each request when its response is sent. */
  readonly onResponse?: ((record: RequestRecord) => void) | undefined;
  /** Metrics served at `GET /metrics`; the path does not exist without them. */
  readonly metrics?: Pick<Metrics, "contentType" | "render"> | undefined;
  /** `false` sends every request through node:http. For tests and benchmarks. */
  readonly fastLane?: boolean;
}
