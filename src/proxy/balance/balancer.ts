import type { Server } from "./server.ts";

/** Which servers a caller can use: of one family, or not those that were tried already. */
export type Accepts = (server: Server) => boolean;

/** The caller can use every server. */
export const ANY_SERVER: Accepts = () => true;

/** Chooses among the servers of one group that take new connections. */
export interface Balancer {
  /** The weight of a server has changed: above 0 it takes connections, with 0 it does not. */
  weightChanged(server: Server): void;
  /** The number of its open connections has changed. */
  loadChanged(server: Server): void;
  /** @param client canonical address of the client. */
  next(client: string, nowMs: number, accepts: Accepts): Server | undefined;
}
