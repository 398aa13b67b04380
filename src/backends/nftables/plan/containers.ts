import type { Family } from "../../../core/model/address.ts";
import type { NftContainer } from "../../../platform/linux/nft/table-script.ts";

/** As many clients are remembered at a time; more are served, but not remembered. */
const MAX_REMEMBERED = 1_048_576;

/** The names of all sets and maps of a table. */
export const NAMES = {
  services: "services",
  endpoints: "endpoints",
  localEndpoints: "local-endpoints",
  choices: "choices",
  localChoices: "local-choices",
  remembered: "remembered",
  allowed: "allowed",
  clusterIPs: "cluster-ips",
  hairpins: "hairpins",
} as const;

/** The kernel alone writes into it. */
export const FILLED_BY_KERNEL: string = NAMES.remembered;

const ADDRESS_TYPES: Readonly<Record<Family, string>> = { v4: "ipv4_addr", v6: "ipv6_addr" };

/**
 * All sets and maps of a table. They are always there: what a service needs are elements. They are
 * declared by `type`: nft 1.0.6 can not use a map of `typeof th dport` in a rule that comes later.
 * A number is a `classid`, the type of the packet's priority, which carries it from map to map.
 */
export function containersOf(family: Family): readonly NftContainer[] {
  const address = ADDRESS_TYPES[family];
  const service = `${address} . inet_proto . inet_service`;
  const endpoint = `${address} . inet_service`;
  return [
    {
      name: NAMES.services,
      kind: "map",
      type: `type ${service} : verdict`,
      comment: "address . protocol . port of a service : how its endpoint is chosen",
    },
    {
      name: NAMES.endpoints,
      kind: "map",
      type: `type ${service} . classid : ${endpoint}`,
      comment: "service . slot : endpoint; with affinity service . number : endpoint",
    },
    {
      name: NAMES.localEndpoints,
      kind: "map",
      type: `type ${service} . classid : ${endpoint}`,
      comment: "the same, only endpoints on this node: for traffic policy Local",
    },
    {
      name: NAMES.choices,
      kind: "map",
      type: `type ${service} . classid : classid`,
      comment: "with affinity: service . slot : number of the endpoint",
    },
    {
      name: NAMES.localChoices,
      kind: "map",
      type: `type ${service} . classid : classid`,
      comment: "the same, only endpoints on this node: for traffic policy Local",
    },
    {
      name: NAMES.remembered,
      kind: "map",
      type: REMEMBERED_TYPES[family],
      properties: [`size ${MAX_REMEMBERED}`, "flags dynamic,timeout"],
      comment: "with affinity: client . service : number of its endpoint; the kernel fills it",
    },
    {
      name: NAMES.allowed,
      kind: "set",
      type: `type ${service} . ${address}`,
      properties: ["flags interval"],
      comment: "service . network : who may call, where not everyone may",
    },
    {
      name: NAMES.clusterIPs,
      kind: "set",
      type: `type ${address}`,
      comment: "on which every port that no service has is refused",
    },
    {
      name: NAMES.hairpins,
      kind: "set",
      type: `type ${address} . ${address}`,
      comment: "endpoints of this node, to tell when one calls itself",
    },
  ];
}

/** Intervals, and what the kernel alone fills, have properties. */
export function isPlain({ properties }: NftContainer): boolean {
  return properties === undefined;
}

/** nft 1.0.6 ends with an assertion where the key of an update is longer than 16 bytes: 64 bits of hash. */
const REMEMBERED_TYPES: Readonly<Record<Family, string>> = {
  v4: "type ipv4_addr . ipv4_addr . inet_proto . inet_service : classid",
  v6: "typeof numgen random mod 1 . numgen random mod 1 : meta priority",
};

/** What the memory is keyed by, as a rule says it. */
export function clientKey(family: Family): string {
  if (family === "v4") return "ip saddr . ip daddr . meta l4proto . th dport";
  const client = "ip6 saddr . ip6 daddr . meta l4proto . th dport";
  const hash = (seed: string) => `jhash ${client} mod 4294967295 seed ${seed}`;
  return `${hash("0x1")} . ${hash("0x2")}`;
}
