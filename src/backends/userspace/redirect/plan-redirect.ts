import { FAMILIES, type Family, familyOf, isLoopback } from "../../../core/model/address.ts";
import type { RouteNode } from "../../../core/route/route-node.ts";
import type { NftElement } from "../../../platform/linux/nft/table-script.ts";
import { ipAddress } from "../../../platform/socket-address.ts";
import type { ListenerConfig, RedirectedAddress } from "../../../proxy/engine-config.ts";
import { LOOPBACK, type NodeFacts, ownAddresses } from "../node-facts.ts";
import { serviceListener } from "../service-listener.ts";
import { sourceAccess } from "../source-access.ts";
import type { UpstreamPlanner } from "../upstream-planner.ts";
import { isUsable } from "../usable.ts";
import type { WantedAddress } from "../wanted-address.ts";
import type { RedirectPorts } from "./redirect-ports.ts";
import { elementKey, REDIRECT_SETS, type RedirectElements } from "./redirect-table.ts";

export interface RedirectPlan {
  readonly listeners: readonly ListenerConfig[];
  readonly elements: RedirectElements;
}

interface Parts {
  readonly node: RouteNode;
  readonly facts: NodeFacts;
  readonly upstreams: UpstreamPlanner;
  readonly ports: RedirectPorts;
}

/** Leads the calls of addresses that this machine does not have to sockets that it has. */
export function planRedirect(wanted: readonly WantedAddress[], parts: Parts): RedirectPlan {
  const fates = firstOfEach(wanted).map((one) => ({ wanted: one, fate: fateOf(one) }));
  const led = fates.filter(({ fate }) => fate === "led").map((one) => one.wanted);
  const udpPorts = parts.ports.assignUdp([...new Set(led.filter(isUdp).map(ownerOf))]);
  const portOf = (one: WantedAddress): number =>
    (isUdp(one) ? udpPorts.get(ownerOf(one)) : undefined) ?? parts.ports.tcp;
  const elementsOf = (family: Family): readonly NftElement[] => {
    const ofFamily = fates.filter((one) => familyOf(one.wanted.ip) === family);
    const to = redirectAddress(family, parts);
    return [
      ...ownedElements(ofFamily.map((one) => one.wanted)),
      ...ofFamily.map(({ wanted: one, fate }) => elementOf(one, fate, `${to} . ${portOf(one)}`)),
    ];
  };
  return {
    listeners: [
      ...FAMILIES.flatMap((family) => tcpListener(family, led, parts)),
      ...FAMILIES.flatMap((family) => udpListeners(family, led, portOf, parts)),
    ],
    elements: { v4: elementsOf("v4"), v6: elementsOf("v6") },
  };
}

/** What becomes of all calls of an address, as far as nobody's source matters. */
type Fate = "led" | "rejected" | "dropped";

function fateOf({ kind, item, port, ip }: WantedAddress): Fate {
  const family = familyOf(ip);
  if (!isUsable(item, port, [family])) return "rejected";
  const isBound =
    kind.type === "cluster-ip" && item.service.service.internalTrafficPolicy === "Local";
  if (!isBound) return "led";
  const hasLocal = item.endpoints.some(({ ports }) =>
    ports.some(({ name, localFor }) => name === port.name && localFor.includes(family)),
  );
  return hasLocal ? "led" : "dropped";
}

/** Of those that want the same address and port, the first has it. */
function firstOfEach(wanted: readonly WantedAddress[]): readonly WantedAddress[] {
  const first = new Map<string, WantedAddress>();
  for (const one of wanted) {
    const key = keyOf(one);
    if (!first.has(key)) first.set(key, one);
  }
  return [...first.values()];
}

function keyOf({ ip, port: { protocol }, number }: WantedAddress): string {
  return elementKey(ip, protocol, number);
}

function elementOf(wanted: WantedAddress, fate: Fate, to: string): NftElement {
  const { key: comment } = wanted.item.service;
  const common = { container: REDIRECT_SETS[fate], key: keyOf(wanted), comment };
  return fate === "led" ? { ...common, value: to } : common;
}

/** A cluster IP belongs to its service alone: what is for no port of it is rejected. */
function ownedElements(wanted: readonly WantedAddress[]): readonly NftElement[] {
  const ips = wanted.filter(({ kind }) => kind.type === "cluster-ip").map(({ ip }) => ip);
  return [...new Set(ips)].map((key) => ({ container: REDIRECT_SETS.owned, key }));
}

/**
 * The address of this machine that calls are led to: not a wildcard, since answers to datagrams have to
 * come from just that one.
 */
function redirectAddress(family: Family, { node, facts }: Parts): string {
  const { machineAddresses } = facts;
  const isUsableHere = (ip: string) => familyOf(ip) === family && machineAddresses.has(ip);
  const others = [...machineAddresses].filter((ip) => isUsableHere(ip) && isReachable(ip));
  const [fallback = ""] = LOOPBACK.filter((ip) => familyOf(ip) === family);
  return node.addresses.find(isUsableHere) ?? others.sort()[0] ?? fallback;
}

function isReachable(ip: string): boolean {
  return !isLoopback(ip) && !ip.startsWith("fe80:");
}

function isUdp({ port }: WantedAddress): boolean {
  return port.protocol === "UDP";
}

/** Who has a local port for datagrams: all addresses of one kind of a service's port share it. */
function ownerOf({ kind, item, port }: WantedAddress): string {
  return `${kind.type} ${item.service.key}:${port.port}/${port.protocol}`;
}

function tcpListener(
  family: Family,
  led: readonly WantedAddress[],
  parts: Parts,
): readonly ListenerConfig[] {
  const wanted = led.filter((one) => !isUdp(one) && familyOf(one.ip) === family);
  if (wanted.length === 0) return [];
  const listener = serviceListener({
    key: `redirect tcp ${family}`,
    address: ipAddress(redirectAddress(family, parts), parts.ports.tcp),
    mode: "tcp",
    upstream: parts.upstreams.nobody(),
    redirected: wanted.map((one) => redirectedOf(one, parts)),
  });
  return [listener];
}

function udpListeners(
  family: Family,
  led: readonly WantedAddress[],
  portOf: (wanted: WantedAddress) => number,
  parts: Parts,
): readonly ListenerConfig[] {
  const wanted = led.filter((one) => isUdp(one) && familyOf(one.ip) === family);
  const byOwner = new Map(wanted.map((one) => [ownerOf(one), one]));
  return [...byOwner].map(([owner, one]) =>
    serviceListener({
      ...redirectedOf(one, parts),
      key: `redirect ${owner} ${family}`,
      address: ipAddress(redirectAddress(family, parts), portOf(one)),
      mode: "udp",
    }),
  );
}

function redirectedOf(wanted: WantedAddress, parts: Parts): RedirectedAddress {
  const { kind, item, port, ip, number } = wanted;
  const { upstreams, node, facts } = parts;
  const families = [familyOf(ip)];
  const address = ipAddress(ip, number);
  if (kind.type === "cluster-ip") {
    const { internalTrafficPolicy } = item.service.service;
    const upstream = upstreams.forPolicy(internalTrafficPolicy, item, port, families);
    return { address, upstream, exceptions: [], access: undefined };
  }
  const own = ownAddresses(node, facts);
  return {
    address,
    upstream: upstreams.forPort(item, port, families),
    exceptions: upstreams.exceptionsFor(own, item, port, families),
    access: sourceAccess(wanted, node),
  };
}
