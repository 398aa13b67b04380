import { type Family, familyOf } from "../../../core/model/address.ts";
import { EMPTY } from "../../../core/model/common.ts";
import type { Node } from "../../../core/model/node.ts";
import { answersNodePorts, type RouteNode } from "../../../core/route/route-node.ts";
import type { RoutePolicy } from "../../../core/route/route-policy.ts";
import type { NftFamily } from "../../../platform/linux/nft/table-script.ts";
import { networkSet } from "./network-set.ts";

/** What an operator sets. */
export interface PlanSettings {
  readonly nodeName: string;
  readonly policy: RoutePolicy;
  /** The bit of packet marks that says "to be masqueraded". */
  readonly masqueradeBit: number;
  /** What the names of workloads' interfaces begin with; for local detection by interface. */
  readonly podInterfacePrefixes: readonly string[];
}

/** What all rules of one family's table are made from, beside the services. */
export interface TableFacts {
  readonly family: Family;
  /** `ip` or `ip6`: the table's, and what addresses are matched by. */
  readonly nft: NftFamily;
  readonly nodeName: string;
  readonly nodeAddresses: readonly string[];
  /** Where node ports answer. */
  readonly nodePortAddresses: readonly string[];
  /** What a listener on any address answers on. */
  readonly ownAddresses: readonly string[];
  /** Undefined where nobody can tell who is a workload of the cluster. */
  readonly workloads: WorkloadMatch | undefined;
  readonly masqueradeAll: boolean;
  /** `0x00004000`. */
  readonly mark: string;
  /** Whether a packet has it, as nft lists that. */
  readonly isMarked: string;
  /** Whether connections to loopback are served, which needs the kernel's leave. */
  readonly servesLoopback: boolean;
}

/** How workloads of the cluster are told from others. */
export interface WorkloadMatch {
  /** One of these holds for a workload. */
  readonly isOne: readonly string[];
  /** Holds for all others. */
  readonly isNone: string;
}

const LOOPBACK: Readonly<Record<Family, string>> = { v4: "127.0.0.1", v6: "::1" };
const NFT_FAMILIES: Readonly<Record<Family, NftFamily>> = { v4: "ip", v6: "ip6" };

const MARK_DIGITS = 8;
const HEX = 16;
const BITS_A_DIGIT = 4;

/**
 * @param node undefined where the state does not know this node
 * @param hasLoopbackListener whether a listener is on loopback, or on any address
 */
export function tableFacts(
  family: Family,
  settings: PlanSettings,
  node: Node | undefined,
  hasLoopbackListener: boolean,
): TableFacts {
  const { nodeName, policy, masqueradeBit } = settings;
  const addresses = node?.addresses ?? EMPTY;
  const routeNode: RouteNode = {
    name: nodeName,
    zone: node?.zone ?? "",
    addresses,
    subnets: node?.subnets ?? EMPTY,
  };
  const nodeAddresses = addresses.filter((ip) => familyOf(ip) === family);
  const ownAddresses = [...nodeAddresses, LOOPBACK[family]];
  const nodePortAddresses = ownAddresses.filter((ip) =>
    answersNodePorts(routeNode, policy.nodePortAddresses, ip),
  );
  return {
    family,
    nft: NFT_FAMILIES[family],
    nodeName,
    nodeAddresses,
    nodePortAddresses,
    ownAddresses,
    workloads: workloadsOf(family, settings, routeNode.subnets),
    masqueradeAll: policy.masqueradeAll,
    ...markOf(masqueradeBit),
    servesLoopback: hasLoopbackListener || nodePortAddresses.includes(LOOPBACK[family]),
  };
}

/** With the highest bit a mark is one of the upper half; nft lists a mask of it as a prefix. */
function markOf(bit: number): Pick<TableFacts, "mark" | "isMarked"> {
  const mark = `0x${(2 ** bit).toString(HEX).padStart(MARK_DIGITS, "0")}`;
  const isHighest = bit === MARK_DIGITS * BITS_A_DIGIT - 1;
  const isMarked = isHighest ? `meta mark ${mark}-0xffffffff` : `meta mark & ${mark} != 0x00000000`;
  return { mark, isMarked };
}

function workloadsOf(
  family: Family,
  { policy: { localDetection }, podInterfacePrefixes }: PlanSettings,
  subnets: readonly string[],
): WorkloadMatch | undefined {
  switch (localDetection.mode) {
    case "none":
      return undefined;
    case "interface":
      return {
        isOne: podInterfacePrefixes.map((prefix) => `iifname "${prefix}*"`),
        isNone: podInterfacePrefixes.map((prefix) => `iifname != "${prefix}*"`).join(" "),
      };
    case "cluster-cidr":
      return byNetwork(family, localDetection.cidrs);
    case "node-cidr":
      return byNetwork(family, subnets);
  }
}

function byNetwork(family: Family, networks: readonly string[]): WorkloadMatch | undefined {
  const ofFamily = networks.filter((network) => familyOf(network) === family);
  if (ofFamily.length === 0) return undefined;
  const set = networkSet(ofFamily);
  const nft = NFT_FAMILIES[family];
  return { isOne: [`${nft} saddr ${set}`], isNone: `${nft} saddr != ${set}` };
}
