import { CoreError } from "../../core/errors.ts";
import type { EdgePolicy } from "../../core/model/service.ts";
import { overlap, parseSpan } from "./address-number.ts";

/** Where addresses of the overlay come from, both families in each list. */
export interface AddressPlan {
  /** What the networks of nodes are cut from. */
  readonly nodes: readonly string[];
  /** How long the prefix of a node's network is. */
  readonly nodePrefix: { readonly v4: number; readonly v6: number };
  /** What the addresses of services come from, by what they mean. */
  readonly services: Readonly<Record<EdgePolicy, readonly string[]>>;
  /** Never given: what the tunnel itself and others have. */
  readonly reserved: readonly string[];
}

const SERVICES_V4 = "10.30.0.0/16";

/** All of IPv4 lies in 10.16.0.0/12; each policy has an IPv6 range of its own. */
export const DEFAULT_ADDRESS_PLAN: AddressPlan = {
  nodes: ["10.18.0.0/15", "10.20.0.0/14", "10.24.0.0/14", "10.28.0.0/15", "fc00::/16"],
  nodePrefix: { v4: 26, v6: 120 },
  services: {
    "round-robin": [SERVICES_V4, "fdff:2000::/21"],
    closest: [SERVICES_V4, "fdff:1000::/21"],
    instance: [SERVICES_V4, "fdff::/20"],
  },
  // Of the tunnel device.
  reserved: ["10.19.1.254", "fcef::dead:beef"],
};

/** @throws CoreError ERR_CONFIG_INVALID where ranges of nodes and of services lie in each other */
export function checkAddressPlan({ nodes, services }: AddressPlan): void {
  const ofServices = new Set(Object.values(services).flat());
  for (const node of nodes) {
    for (const service of ofServices) {
      if (!overlap(parseSpan(node), parseSpan(service))) continue;
      throw new CoreError(
        "ERR_CONFIG_INVALID",
        `the range ${node} of nodes and ${service} of services overlap; expected ranges apart from each other`,
      );
    }
  }
}
