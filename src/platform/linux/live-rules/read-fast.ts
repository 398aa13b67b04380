/**
 * Reads from the kernel which connections pass without the rules. The layouts of programs and maps are written
 * down here a second time, on purpose: what wrote them is not trusted to read them.
 */
import { closeSync } from "node:fs";
import { familyOf, formatHostPort } from "../../../core/model/address.ts";
import type { Packet } from "../../../core/route/packet.ts";
import { readIp } from "../../../wire/ip-bytes.ts";
import { BpfMap } from "../bpf/bpf-map.ts";
import {
  mapFacts,
  openMap,
  openProgram,
  programFacts,
  programsOfLink,
} from "../bpf/bpf-objects.ts";

/** Connections that stand, between the ends of a packet. */
export interface FastFinding {
  /** `10.244.1.12:8080`, and how many of them go there. */
  readonly targets: ReadonlyMap<string, number>;
  /** Number and name: `81 portolan_fast`. */
  readonly program: string;
}

/** BPF_TCX_INGRESS. */
const TCX_INGRESS = 46;
const PROGRAM = "portolan_fast";
const MAPS = { v4: "ptl_flows_v4", v6: "ptl_flows_v6" } as const;
const ADDRESS_BYTES = { v4: 4, v6: 16 } as const;
/** Keys: link, source port, destination port, addresses of both. Values: the same ends, as they leave. */
const KEY_PORT = 6;
const KEY_ADDRESSES = 8;
const VALUE_PORT = 14;
const VALUE_ADDRESSES = 48;

/** @param links numbers of those that packets may come by @throws CoreError ERR_SYSTEM_CALL */
export function readFast(packet: Packet, links: Iterable<number>): readonly FastFinding[] {
  const ids = new Set<number>();
  for (const link of links) for (const id of programsOfLink(link, TCX_INGRESS)) ids.add(id);
  return [...ids].flatMap((id) => readProgram(id, packet) ?? []);
}

/** Undefined where it is another's. */
function readProgram(id: number, packet: Packet): FastFinding | undefined {
  const descriptor = openProgram(id);
  try {
    const { name, mapIds } = programFacts(descriptor);
    if (name !== PROGRAM) return undefined;
    const targets = new Map<string, number>();
    for (const mapId of mapIds) addTargets(mapId, packet, targets);
    return { program: `${id} ${name}`, targets };
  } finally {
    closeSync(descriptor);
  }
}

function addTargets(mapId: number, packet: Packet, targets: Map<string, number>): void {
  const family = familyOf(packet.dst);
  const length = ADDRESS_BYTES[family];
  const descriptor = openMap(mapId);
  const { name, keyBytes, valueBytes } = mapFacts(descriptor);
  const map = new BpfMap(descriptor, { keyBytes, valueBytes });
  try {
    if (name !== MAPS[family]) return;
    for (const [key, value] of map.entries()) {
      const isOfPacket =
        readIp(key, KEY_ADDRESSES, length) === packet.src &&
        readIp(key, KEY_ADDRESSES + length, length) === packet.dst &&
        portIn(key, KEY_PORT) === packet.dstPort;
      if (!isOfPacket) continue;
      const ip = readIp(value, VALUE_ADDRESSES + length, length);
      const target = formatHostPort(ip, portIn(value, VALUE_PORT));
      targets.set(target, 1 + (targets.get(target) ?? 0));
    }
  } finally {
    map.close();
  }
}

function portIn(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
