import { CoreError } from "../../core/errors.ts";
import {
  type Cidr,
  cidrContains,
  type Family,
  familyOf,
  parseCidr,
} from "../../core/model/address.ts";
import type { Node } from "../../core/model/node.ts";
import type { FullState } from "../../core/sinks/fullstate.ts";
import { addressAt, overlaps } from "../../edge/addresses/subnet.ts";
import type { IngressPort } from "../../edge/environment/edge-network.ts";
import { peersOfNodes } from "../../edge/overlay/peers-of-nodes.ts";
import type { EdgeService } from "../../edge/table/service-table.ts";
import type { PeerSpec } from "../../edge/tunnel/peer.ts";
import { planIngress } from "./plan-ingress.ts";
import { planServices } from "./plan-services.ts";
import type { EdgeSettings } from "./settings.ts";

/** What a state comes to on this node. */
export interface EdgePlan {
  /** Of the workloads here. */
  readonly networks: readonly Cidr[];
  /** Of this machine in them. */
  readonly addresses: Partial<Readonly<Record<Family, string>>>;
  readonly peerNetworks: readonly Cidr[];
  readonly peers: readonly PeerSpec[];
  readonly services: readonly EdgeService[];
  /** Where those outside are let in. */
  readonly ingress: readonly IngressPort[];
  /** What is not served as it is asked for: by whom it is asked, and why. */
  readonly limits: ReadonlyMap<string, readonly string[]>;
}

export interface EdgeFacts {
  readonly nodeName: string;
  readonly settings: EdgeSettings;
  /** Of this machine's tunnel; undefined where it is not known. */
  readonly publicKey: string | undefined;
  /** What this machine speaks. */
  readonly families: readonly Family[];
}

/** @throws CoreError ERR_STATE_INVALID where the state does not say what this node needs */
export function planEdge(state: FullState, facts: EdgeFacts): EdgePlan {
  const { nodeName, settings } = facts;
  const { nodes } = state.further;
  const own = nodes.get(nodeName);
  const networks = networksOf(own);
  if (own === undefined || networks.length === 0) {
    const message = `Node ${nodeName}: ${own === undefined ? "missing" : "subnets: missing"}; expected a Node with the networks of the workloads on this machine, such as subnets: [10.18.0.0/26]`;
    throw new CoreError("ERR_STATE_INVALID", message);
  }
  for (const range of settings.serviceRanges) {
    const network = networks.find((one) => overlaps(one, range));
    if (network === undefined) continue;
    const message = `Node ${nodeName}: subnets: ${network.text} overlaps the edge addresses ${range.text}; expected networks apart (--edge-range)`;
    throw new CoreError("ERR_STATE_INVALID", message);
  }
  const { peers, leftOut } = peersOfNodes(nodes.values(), {
    own: nodeName,
    families: facts.families,
    modes: settings.modes,
  });
  const peerNetworks = peers.flatMap(({ subnets }) => subnets.flatMap((text) => cidr(text)));
  const { services, limits } = planServices(state, { nodeName, peers, settings });
  const ingress = planIngress({
    nodeName,
    listeners: state.further.listeners.values(),
    securityGroups: state.further["security-groups"],
    serviceOf: (key) => state.services.get(key)?.service.service,
  });
  return {
    networks,
    ingress: ingress.ports,
    addresses: addressesOf(networks, settings),
    peerNetworks: peerNetworks.filter((one) => !networks.some((other) => overlaps(one, other))),
    peers,
    services,
    limits: new Map([
      ...(leftOut.length > 0 ? [["other nodes", leftOut] as const] : []),
      ...keyLimits(own, facts),
      ...limits,
      ...ingress.limits,
    ]),
  };
}

function networksOf(node: Node | undefined): readonly Cidr[] {
  return (node?.subnets ?? []).flatMap((text) => cidr(text));
}

function cidr(text: string): readonly Cidr[] {
  const parsed = parseCidr(text);
  return parsed === undefined ? [] : [parsed];
}

/** The first one of a network is that of its router, by custom. */
function addressesOf(
  networks: readonly Cidr[],
  { addresses }: EdgeSettings,
): EdgePlan["addresses"] {
  const found: Partial<Record<Family, string>> = {};
  for (const network of networks) found[network.family] ??= addressAt(network, 1);
  for (const ip of addresses) {
    if (!networks.some((network) => cidrContains(network, ip))) {
      const message = `--edge-address: ${ip} is in none of this node's subnets; expected one of ${networks.map(({ text }) => text).join(", ")}`;
      throw new CoreError("ERR_CONFIG_INVALID", message);
    }
    found[familyOf(ip)] = ip;
  }
  return found;
}

/** Others seal for the key that the state says: with another one nothing is understood here. */
function keyLimits(
  { tunnel }: Node,
  { nodeName, publicKey }: EdgeFacts,
): readonly (readonly [string, readonly string[]])[] {
  if (publicKey === undefined || tunnel?.publicKey === publicKey) return [];
  const has = tunnel === undefined ? "no tunnel" : `the tunnel key "${tunnel.publicKey}"`;
  const reason = `the state has ${has} for it, so others do not reach this machine; its own public key is ${publicKey}`;
  return [[`Node ${nodeName}`, [reason]]];
}
