/** What a server is started with. */
import type { Authenticator } from "../auth/authenticator.ts";
import type { ConflictPolicy, PlantStore } from "../core/store.ts";
import type { ExchangeRecord } from "./observing/exchange-record.ts";
import type { TlsCertificate } from "./connections/http-listener.ts";
import type { ServerLimits } from "./limits.ts";
import type { ListenPlace } from "./connections/listening.ts";
import type { Metrics } from "./observing/metrics.ts";

/** What a server is made of, and where it listens. */
export interface PlantServerOptions extends ServerLimits, ListenPlace {
  /** Makes it speak HTTPS. */
  readonly certificate?: TlsCertificate | undefined;
  readonly store: Pick<PlantStore, "create" | "checkWritable">;
  readonly authenticator: Pick<Authenticator, "check">;
  /** In front of `/plants`: empty, or with a slash at its beginning and none at its end. */
  readonly basePath: string;
  /** What happens to a create of an id that belongs to a different plant. */
  readonly onConflict: ConflictPolicy;
  /** Where clients reach it, with the base path, when that is not where it listens. */
  readonly publicUrl?: string | undefined;
  /** `false`: no page for people at `/` and `/docs`. */
  readonly docs?: boolean;
  /** Whose pages may use it from a browser: origins as a browser writes them, or `*` for any. */
  readonly corsOrigins?: readonly string[];
  /** Told of what is answered with 50000, or is the store's trouble; it must not throw. */
  readonly onError: (error: unknown) => void;
  /** Told of each request once its answer is known; it must not throw. */
  readonly onExchange?: ((record: ExchangeRecord) => void) | undefined;
  /** What `GET /metrics` gives to anybody who asks; without it there is no such path. */
  readonly metrics?: Pick<Metrics, "contentType" | "render"> | undefined;
  /**
   * Done once the server listens, with its URL; requests that arrive before it has ended wait for it. Its failure is one
   * of opening.
   */
  readonly prepare?: (url: string) => Promise<void>;
}
