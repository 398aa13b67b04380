import type { HttpService } from "../http/http-service.ts";
import type { ServerPool } from "../http/server-pool.ts";
import type { H2Memory } from "./h2-memory.ts";
import type { ServerLinks } from "./server-links.ts";

/** What an HTTP/2 listener decides about its requests, and what they share. */
export interface H2Service {
  readonly http: HttpService;
  /** For servers that speak HTTP/1.1. */
  readonly pool: ServerPool;
  /** What a server is told first on a new connection. */
  readonly greeting: Buffer;
  readonly links: ServerLinks;
  readonly memory: H2Memory;
}
