/**
 * Reads from the kernel what connect(2) exchanges before any packet is made. The layouts of programs and
 * maps are written down here a second time, on purpose: what wrote them is not trusted to read them.
 */
import { closeSync, openSync } from "node:fs";
import ipaddr from "ipaddr.js";
import { familyOf, formatHostPort, unmappedIp } from "../../../core/model/address.ts";
import type { Packet } from "../../../core/route/packet.ts";
import { BpfMap } from "../bpf/bpf-map.ts";
import {
  mapFacts,
  openMap,
  openProgram,
  programFacts,
  programsOf,
  programsOfCgroups,
} from "../bpf/bpf-objects.ts";
import { namespaceCookie } from "../namespace-cookie.ts";

/** Where a connection comes to, with its share of all. */
export interface DirectShare {
  readonly address: string;
  readonly port: number;
  readonly probability: number;
}

/** What one attached program does with a connection. */
export interface DirectFinding {
  /** Number and name: `81 portolan_conn4`. */
  readonly program: string;
  /** Undefined: it leaves it as it is. */
  readonly shares: readonly DirectShare[] | undefined;
}

/** BPF_CGROUP_INET4_CONNECT and BPF_CGROUP_INET6_CONNECT. */
const CONNECT_HOOKS = { v4: 10, v6: 11 } as const;
const NODE_PROGRAMS = { v4: "portolan_conn4", v6: "portolan_conn6" } as const;
const WORKLOAD_PROGRAMS = { v4: "portolan_wconn4", v6: "portolan_wconn6" } as const;
const WHOLE = 2 ** 32;
const ADDRESS_END = 16;

/** What a process of this node meets. @param cgroup the folder of its own @throws CoreError ERR_SYSTEM_CALL */
export function readDirect(packet: Packet, cgroup: string): readonly DirectFinding[] {
  const folder = openSync(cgroup, "r");
  try {
    const family = familyOf(packet.dst);
    return readPrograms(programsOf(folder, CONNECT_HOOKS[family]), NODE_PROGRAMS[family], packet);
  } finally {
    closeSync(folder);
  }
}

/**
 * What workloads of this node meet, those in the cgroup that was named for them: nobody can tell of an address
 * whether it is of one.
 * @throws CoreError ERR_SYSTEM_CALL
 */
export function readWorkloadDirect(packet: Packet): readonly DirectFinding[] {
  const family = familyOf(packet.dst);
  const ids = programsOfCgroups(CONNECT_HOOKS[family]);
  return readPrograms(ids, WORKLOAD_PROGRAMS[family], packet);
}

function readPrograms(
  ids: Iterable<number>,
  name: string,
  packet: Packet,
): readonly DirectFinding[] {
  const findings: DirectFinding[] = [];
  for (const id of ids) {
    const finding = readProgram(id, name, packet);
    if (finding !== undefined) findings.push(finding);
  }
  return findings;
}

/** Undefined where it is another's, or of the node in another network namespace. */
function readProgram(id: number, wanted: string, packet: Packet): DirectFinding | undefined {
  const descriptor = openProgram(id);
  const maps = new Map<string, BpfMap>();
  try {
    const { name, mapIds } = programFacts(descriptor);
    if (name !== wanted) return undefined;
    for (const mapId of mapIds) {
      const map = openMap(mapId);
      const { name: mapName, keyBytes, valueBytes } = mapFacts(map);
      maps.set(mapName, new BpfMap(map, { keyBytes, valueBytes }));
    }
    const cookie = maps.get("portolan_netns")?.get(new Uint8Array(4));
    if (cookie === undefined || viewOf(cookie).getBigUint64(0, true) !== namespaceCookie()) {
      return undefined;
    }
    return { program: `${id} ${name}`, shares: sharesOf(packet, maps) };
  } finally {
    for (const map of maps.values()) map.close();
    closeSync(descriptor);
  }
}

function sharesOf(
  { dst, dstPort }: Packet,
  maps: ReadonlyMap<string, BpfMap>,
): readonly DirectShare[] | undefined {
  const key = new Uint8Array(20);
  const address = ipaddr.process(dst);
  const bytes = address.kind() === "ipv4" ? [255, 255, ...address.toByteArray()] : undefined;
  const own = bytes ?? address.toByteArray();
  key.set(own, ADDRESS_END - own.length);
  viewOf(key).setUint16(ADDRESS_END, dstPort);
  const frontend = maps.get("portolan_front")?.get(key);
  if (frontend === undefined) return undefined;
  const list = viewOf(frontend).getUint32(0, true);
  const count = viewOf(frontend).getUint32(4, true);
  const shares = new Map<string, DirectShare>();
  for (let slot = 0; slot < count; slot += 1) {
    const value = maps.get("portolan_slots")?.get(Uint8Array.from(words(list, slot)));
    if (value === undefined) continue;
    const first = viewOf(value).getUint32(0, true) / WHOLE;
    add(shares, value, 4, first / count);
    add(shares, value, 24, (1 - first) / count);
  }
  return [...shares.values()];
}

function* words(...numbers: readonly number[]): Generator<number> {
  for (const number of numbers) {
    for (let shift = 0; shift < 32; shift += 8) yield (number >>> shift) & 0xff;
  }
}

function add(shares: Map<string, DirectShare>, value: Uint8Array, at: number, part: number): void {
  const spelled = new ipaddr.IPv6([...value.subarray(at, at + ADDRESS_END)]).toRFC5952String();
  const address = unmappedIp(spelled);
  const port = viewOf(value).getUint16(at + ADDRESS_END);
  const key = formatHostPort(address, port);
  const probability = part + (shares.get(key)?.probability ?? 0);
  if (probability > 0) shares.set(key, { address, port, probability });
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
