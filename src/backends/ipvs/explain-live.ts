import { type Family, familyOf, formatHostPort } from "../../core/model/address.ts";
import type { Packet } from "../../core/route/packet.ts";
import type { Verdict } from "../../core/route/verdict.ts";
import { compareWithVerdict } from "../../platform/linux/live-rules/compare-verdict.ts";
import {
  describeDormant,
  describeOutcomes,
} from "../../platform/linux/live-rules/describe-outcomes.ts";
import { ipvsChains, type LiveServer } from "../../platform/linux/live-rules/ipvs-chains.ts";
import { type RulesWorld, readLiveRules } from "../../platform/linux/live-rules/read-live-rules.ts";
import type { LiveRuleset } from "../../platform/linux/live-rules/ruleset.ts";
import { walkHere } from "../../platform/linux/live-rules/walk-here.ts";
import type { LiveOutcome } from "../../platform/linux/live-rules/walk-ruleset.ts";
import type { IpSetEntry } from "../../wire/netlink/ipset/ip-set.ts";
import {
  type DestinationState,
  destinationId,
  serverId,
  type VirtualServerState,
} from "../../wire/netlink/ipvs/virtual-server.ts";
import type { LiveAnswer } from "../backend.ts";
import { setsOf } from "./glue/set-names.ts";
import type { IpvsPlatform } from "./kernel/platform.ts";

/** Shares of weights may differ from those of the reference by so much: large ones are rounded. */
const TOLERANCE = 0.01;

/**
 * What becomes of a packet at this moment, read from the kernel: it is led through the rules that are
 * there, whoever made them, with the sets that they look into, the addresses of this machine, and the
 * virtual servers with their real ones.
 */
export async function explainIpvs(
  packet: Packet,
  platform: Pick<IpvsPlatform, "ipvs" | "sets" | "link">,
  world: RulesWorld,
): Promise<LiveAnswer> {
  const { sets, link } = platform;
  const family = familyOf(packet.dst);
  const servers = await readServers(packet, family, platform.ipvs);
  const rules = await readRules(family, servers, sets, world);
  const { own, others } = await link.addresses(family);
  const addresses = new Set([...own, ...others]);
  const { outcomes, doubts } = await walkHere(rules, packet, {
    exec: world.exec,
    ownAddresses: () => addresses,
  });
  const isForServices = (await sets.entries(setsOf(family).addresses.name))?.some(
    ({ ip }) => ip === packet.dst,
  );
  const differences = (ways: readonly LiveOutcome[], verdict: Verdict): readonly string[] =>
    isForServices === true && isRefusedPort(ways, verdict)
      ? []
      : compareWithVerdict(ways, verdict, TOLERANCE);
  return {
    lines: [
      ...(await describeHolders(packet, servers, platform)),
      ...describeDormant(rules),
      ...describeOutcomes(outcomes),
    ],
    differencesFrom: (verdict) => differences(outcomes, verdict),
    doubtsAbout: (verdict) => doubts((ways) => differences(ways, verdict).length === 0),
  };
}

/** A declared deviation: this machine has the addresses of services, and rejects calls of their other ports. */
function isRefusedPort(outcomes: readonly LiveOutcome[], { kind }: Verdict): boolean {
  return kind === "not-ours" && outcomes.every(({ end }) => end.kind === "reject");
}

/** Those that may take the packet: at its address, or by any mark. */
async function readServers(
  packet: Packet,
  family: Family,
  ipvs: IpvsPlatform["ipvs"],
): Promise<readonly LiveServer[]> {
  const servers: LiveServer[] = [];
  for (const server of await ipvs.servers()) {
    if (server.family !== family || !("mark" in server.place || isAt(server, packet))) continue;
    servers.push({ server, destinations: await ipvs.destinations(server) });
  }
  return servers;
}

/** All rules, with the sets that any of them looks into. */
async function readRules(
  family: Family,
  servers: readonly LiveServer[],
  sets: IpvsPlatform["sets"],
  world: RulesWorld,
): Promise<LiveRuleset> {
  const { chains, ...others } = await readLiveRules(world);
  const ipSets = new Map<string, readonly IpSetEntry[]>();
  for (const { families, rules } of chains.values()) {
    if (!families.includes(family)) continue;
    for (const step of rules.flatMap(({ steps }) => steps)) {
      if (!("set" in step) || ipSets.has(step.set)) continue;
      const entries = await sets.entries(step.set);
      if (entries !== undefined) ipSets.set(step.set, entries);
    }
  }
  const taking = ipvsChains(family, servers).map((chain) => [chain.id, chain] as const);
  return { ...others, chains: new Map([...chains, ...taking]), ipSets };
}

/** The sets that the address is in, and the virtual servers that are there for it. */
async function describeHolders(
  packet: Packet,
  servers: readonly LiveServer[],
  { sets }: Pick<IpvsPlatform, "sets">,
): Promise<readonly string[]> {
  const { names, marks } = await readSets(packet, sets);
  const where = formatHostPort(packet.dst, packet.dstPort);
  const byAddress = servers.filter(({ server: { place } }) => "ip" in place);
  const byMark = servers.filter(
    ({ server: { place } }) => "mark" in place && marks.has(place.mark),
  );
  return [
    `${where} is in ${names.length === 0 ? "no set" : names.join(", ")}`,
    ...[...byAddress, ...byMark].flatMap(({ server, destinations }) => [
      serverLine(server),
      ...destinations.map((one) => `  ${destinationLine(one)}`),
    ]),
    ...(byAddress.length === 0 ? ["no virtual server is there for it"] : []),
  ];
}

/** The sets that a call is in, and the marks that it is given by them. */
async function readSets(
  { dst, dstPort, protocol }: Packet,
  sets: IpvsPlatform["sets"],
): Promise<{ readonly names: readonly string[]; readonly marks: ReadonlySet<number> }> {
  const names: string[] = [];
  const marks = new Set<number>();
  const ofCalls = Object.values(setsOf(familyOf(dst))).filter(
    ({ type }) => type === "hash:ip,port",
  );
  for (const { name } of ofCalls) {
    const entries = (await sets.entries(name)) ?? [];
    const entry = entries.find(
      (one) => one.ip === dst && one.port === dstPort && one.protocol === protocol,
    );
    if (entry === undefined) continue;
    names.push(name);
    if (entry.mark !== undefined) marks.add(entry.mark);
  }
  return { names, marks };
}

function isAt({ place }: VirtualServerState, { dst, dstPort, protocol }: Packet): boolean {
  return "ip" in place && place.ip === dst && place.port === dstPort && place.protocol === protocol;
}

function serverLine(server: VirtualServerState): string {
  const persistence =
    server.persistenceSeconds > 0 ? `, persistent for ${server.persistenceSeconds} s` : "";
  const who = "mark" in server.place ? ", for insiders" : "";
  return `virtual server ${serverId(server)}${who}, ${server.scheduler}${persistence}, ${server.statistics.connections} connections so far`;
}

function destinationLine(state: DestinationState): string {
  const { weight, activeConnections, inactiveConnections } = state;
  return `to ${destinationId(state)} with weight ${weight}, ${activeConnections} active and ${inactiveConnections} other connections`;
}
