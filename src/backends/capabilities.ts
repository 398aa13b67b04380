import type { Family } from "../core/model/address.ts";
import type { Protocol } from "../core/model/common.ts";
import type { BalancingMethod } from "../core/model/group.ts";
import type { AddressType } from "../core/route/verdict.ts";

/** What a data plane can do of what the reference semantics say. */
export interface Capabilities {
  readonly addressTypes: readonly AddressType[];
  readonly protocols: readonly Protocol[];
  readonly families: readonly Family[];
  /** `sticky`: clients stay with their endpoint, but the time-out is not honoured. */
  readonly affinity: "none" | "sticky" | "with-timeout";
  /** Who may use a load-balancer address. */
  readonly sourceRanges: boolean;
  /** Traffic policy Local for cluster IPs. */
  readonly internalLocal: boolean;
  /** Traffic policy Local for external addresses and node ports. */
  readonly externalLocal: boolean;
  /** Whether shares follow the weights of endpoints and groups. */
  readonly weights: boolean;
  readonly methods: readonly BalancingMethod[];
  /** Whether a group can be chosen by what a request says (host, path). */
  readonly requestHints: boolean;
  /** Whether an endpoint can see the client's address. */
  readonly keepsSource: boolean;
}
