import { familyOf, formatHostPort } from "../../core/model/address.ts";
import type { Packet } from "../../core/route/packet.ts";
import type { Verdict } from "../../core/route/verdict.ts";
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
 * What IPVS holds for a packet at this moment: the sets that its address is in, the virtual servers
 * that may take it, and their real ones. Endpoints and shares are compared with the reference; what
 * rules make of the source address is not.
 */
export async function explainIpvs(
  packet: Packet,
  { ipvs, sets }: Pick<IpvsPlatform, "ipvs" | "sets">,
): Promise<LiveAnswer> {
  const family = familyOf(packet.dst);
  const { names, marks } = await readSets(packet, sets);
  const servers = (await ipvs.servers()).filter((one) => one.family === family);
  const byMark = servers.find(({ place }) => "mark" in place && marks.has(place.mark));
  const byAddress = servers.find((one) => isAt(one, packet));
  const taken = packet.from === "outside" ? byAddress : (byMark ?? byAddress);
  const where = formatHostPort(packet.dst, packet.dstPort);
  const lines = [`${where} is in ${names.length === 0 ? "no set" : names.join(", ")}`];
  for (const server of [byAddress, byMark]) {
    if (server === undefined) continue;
    lines.push(serverLine(server, server === taken));
    lines.push(...(await ipvs.destinations(server)).map((one) => `  ${destinationLine(one)}`));
  }
  if (byAddress === undefined) lines.push("no virtual server is there for it");
  const destinations = taken === undefined ? [] : await ipvs.destinations(taken);
  return { lines, differencesFrom: (verdict) => differences(destinations, verdict) };
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

function serverLine(server: VirtualServerState, isTaken: boolean): string {
  const persistence =
    server.persistenceSeconds > 0 ? `, persistent for ${server.persistenceSeconds} s` : "";
  const who = isTaken ? "" : " (for others than this packet)";
  return `virtual server ${serverId(server)}, ${server.scheduler}${persistence}, ${server.statistics.connections} connections so far${who}`;
}

function destinationLine(state: DestinationState): string {
  const { weight, activeConnections, inactiveConnections } = state;
  return `to ${destinationId(state)} with weight ${weight}, ${activeConnections} active and ${inactiveConnections} other connections`;
}

function differences(
  destinations: readonly DestinationState[],
  verdict: Verdict,
): readonly string[] {
  const total = destinations.reduce((sum, { weight }) => sum + weight, 0);
  const live = new Map<string, number>();
  for (const one of destinations) {
    if (one.weight > 0) live.set(destinationId(one), one.weight / total);
  }
  const wanted = new Map<string, number>();
  if (verdict.kind === "endpoints") {
    for (const { address, targetPort, probability } of verdict.candidates) {
      const id = formatHostPort(address, targetPort);
      wanted.set(id, (wanted.get(id) ?? 0) + probability);
    }
  }
  return [...new Set([...wanted.keys(), ...live.keys()])].flatMap((id) => {
    const [is, should] = [live.get(id) ?? 0, wanted.get(id) ?? 0];
    if (Math.abs(is - should) <= TOLERANCE) return [];
    return [`${id}: ${percent(is)}, where the reference says ${percent(should)}`];
  });
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
