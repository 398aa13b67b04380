import type { IngressPort } from "../environment/edge-network.ts";
import type { TableRow } from "../environment/route-table.ts";
import type { ServiceIp } from "../environment/workload.ts";
import type { EdgeService } from "../table/service-table.ts";
import type { PeerSpec } from "../tunnel/peer.ts";

/** What is known of other nodes. */
export interface RemoteView {
  readonly services: readonly EdgeService[];
  readonly peers: readonly PeerSpec[];
  /** Where this node lets those outside in to services. */
  readonly ingress?: readonly IngressPort[] | undefined;
}

export const NOTHING_REMOTE: RemoteView = { services: [], peers: [] };

/** Who knows what runs elsewhere: the manager, as a node sees it. */
export interface Directory {
  /**
   * Tells that an instance runs here.
   * @returns its service addresses; as they were given where the manager does not answer now
   * @throws CoreError what the manager refuses it with
   */
  announce(row: TableRow): Promise<readonly ServiceIp[]>;
  withdraw(row: Pick<TableRow, "appName" | "instanceNumber">): Promise<void>;
  /** All that runs here. */
  setLocal(rows: readonly TableRow[]): void;
  /** Follows services by name from now on. */
  follow(services: readonly string[]): void;
  /**
   * Follows services elsewhere that have one of these names, in lower case.
   * @returns those that were found, as `needs` names them
   */
  followNames(names: readonly string[]): Promise<readonly string[]>;
  /** Follows the service that an address is of; false where nobody has it. */
  followAddress(address: string): Promise<boolean>;
}
