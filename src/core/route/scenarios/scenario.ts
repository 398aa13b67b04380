import type { Family } from "../../model/address.ts";
import type { Protocol } from "../../model/common.ts";
import type { ModelObject } from "../../model/object.ts";
import { GlobalStore } from "../../store/global-store.ts";
import type { GlobalState } from "../../store/state.ts";
import type { Observed } from "../observed.ts";
import type { Packet } from "../packet.ts";
import type { RoutePolicy } from "../route-policy.ts";
import type { AddressType } from "../verdict.ts";
import type { NodeName, WorkloadName } from "./topology.ts";

/** What a scenario asks of a data plane; what is missing is not asked. */
export interface ScenarioNeeds {
  readonly addressType: AddressType;
  readonly protocol: Protocol;
  readonly family: Family;
  readonly affinity?: "sticky" | "with-timeout";
  readonly sourceRanges?: boolean;
  readonly internalLocal?: boolean;
  readonly externalLocal?: boolean;
  readonly weights?: boolean;
  readonly keepsSource?: boolean;
}

export interface ExpectedEndpoint {
  readonly workload: WorkloadName;
  /** Where the packet arrives. */
  readonly address: string;
  readonly targetPort: number;
  readonly probability: number;
  /** Whether it arrives with another source address than it was sent with. */
  readonly masquerade: boolean;
}

export type Expected =
  | { readonly kind: "endpoints"; readonly endpoints: readonly ExpectedEndpoint[] }
  | { readonly kind: "reject" | "drop" | "not-ours" };

/** One packet in one state, and what has to become of it. */
export interface Scenario {
  /** Stable and unique: `cluster-ip/tcp/v4/iTP-Local/no-local/from-workload`. */
  readonly name: string;
  readonly needs: ScenarioNeeds;
  /** All of the state. */
  readonly objects: readonly ModelObject[];
  /** The node that the packet is on. */
  readonly node: NodeName;
  readonly packet: Packet;
  readonly policy: RoutePolicy;
  readonly observed: Observed;
  readonly expected: Expected;
}

/** Whether clients of the scenario are told apart by what they did before. */
export function hasAffinity({ objects }: Scenario): boolean {
  return objects.some((object) => object.kind === "Service" && object.affinitySeconds > 0);
}

/** The state that holds just these objects. */
export function globalStateOf(objects: readonly ModelObject[]): GlobalState {
  const store = new GlobalStore();
  store.transact("scenario", (transaction) => {
    for (const object of objects) transaction.set(object);
  });
  return store.state();
}
