import { CoreError } from "../../../core/errors.ts";
import { familyOf } from "../../../core/model/address.ts";
import type { RefusedChange } from "../../../platform/linux/netlink/exchange-batches.ts";
import { entryText, type IpSetEntry } from "../../../wire/netlink/ipset/ip-set.ts";
import type { IpvsChange } from "../../../wire/netlink/ipvs/encode-ipvs.ts";
import {
  type Destination,
  destinationId,
  serverId,
  type VirtualServer,
} from "../../../wire/netlink/ipvs/virtual-server.ts";
import type { IpvsPlatform } from "./platform.ts";

/** What a kernel holds, for tests that compare. */
export interface FakeKernel {
  readonly servers: Map<string, VirtualServer>;
  /** By server and destination. */
  readonly destinations: Map<string, Destination>;
  /** By set and entry, without what an entry carries beside itself. */
  readonly entries: Map<string, { readonly set: string; readonly entry: IpSetEntry }>;
  /** Of the link of services. */
  readonly addresses: Set<string>;
  /** Of all other links. */
  readonly otherAddresses: Set<string>;
}

/** One that holds nothing. */
export function createFakeKernel(): FakeKernel {
  return {
    servers: new Map(),
    destinations: new Map(),
    entries: new Map(),
    addresses: new Set(),
    otherAddresses: new Set(),
  };
}

/** All entries of sets as `ipset` prints them. */
export function entryTexts({ entries }: FakeKernel): readonly string[] {
  return [...entries.values()].map(({ entry }) => entryText(entry));
}

const NO_STATISTICS = { connections: 0, packetsIn: 0, packetsOut: 0, bytesIn: 0, bytesOut: 0 };
const UNUSED = {
  isTranslated: true,
  isLimited: false,
  activeConnections: 0,
  inactiveConnections: 0,
  statistics: NO_STATISTICS,
};

/** As strict as the kernel: what is to be made must not be there, and what goes must. */
export function createFakePlatform(kernel: FakeKernel): IpvsPlatform {
  const refuse = (index: number, what: string): RefusedChange => ({
    index,
    errno: 1,
    error: new CoreError("ERR_SYSTEM_CALL", what),
  });
  return {
    ipvs: {
      servers: async () =>
        [...kernel.servers.values()].map((server) => ({
          ...server,
          isByAddress: true,
          statistics: NO_STATISTICS,
        })),
      destinations: async (server) =>
        [...kernel.destinations]
          .filter(([key]) => key.startsWith(`${serverId(server)} `))
          .map(([, destination]) => ({ ...destination, ...UNUSED })),
      timeouts: async () => ({ tcp: 0, tcpFin: 0, udp: 0 }),
      change: async (changes) =>
        changes.flatMap((change, index) =>
          applyChange(kernel, change) ? [] : [refuse(index, JSON.stringify(change))],
        ),
      close: () => undefined,
    },
    sets: {
      entries: async (name) =>
        [...kernel.entries.values()].flatMap(({ set, entry }) => (set === name ? [entry] : [])),
      change: async (changes) => {
        for (const change of changes) {
          if (!("entry" in change)) continue;
          const { set, entry, kind } = change;
          const { mark: _, isException: __, ...bare } = entry;
          const key = `${set.name} ${entryText(bare)}`;
          if (kind === "add") kernel.entries.set(key, { set: set.name, entry });
          else kernel.entries.delete(key);
        }
        return [];
      },
      close: () => undefined,
    },
    link: {
      ensure: async () => undefined,
      exists: async () => true,
      addresses: async (family) => ({
        own: [...kernel.addresses].filter((ip) => familyOf(ip) === family),
        others: [...kernel.otherAddresses].filter((ip) => familyOf(ip) === family),
      }),
      change: async (changes) => {
        for (const { kind, ip } of changes) {
          if (kind === "add") kernel.addresses.add(ip);
          else kernel.addresses.delete(ip);
        }
        return [];
      },
      remove: async () => kernel.addresses.clear(),
      close: () => undefined,
    },
  };
}

/** @returns whether it could be done */
function applyChange(kernel: FakeKernel, change: IpvsChange): boolean {
  if (change.kind === "setConfig") return true;
  const id = serverId(change.server);
  const isThere = kernel.servers.has(id);
  if ("destination" in change) return isThere && applyToDestination(kernel, id, change);
  if ((change.kind === "newService") === isThere) return false;
  if (change.kind === "deleteService") removeServer(kernel, id);
  else kernel.servers.set(id, change.server);
  return true;
}

function removeServer({ servers, destinations }: FakeKernel, id: string): void {
  servers.delete(id);
  for (const key of [...destinations.keys()]) {
    if (key.startsWith(`${id} `)) destinations.delete(key);
  }
}

function applyToDestination(
  { destinations }: FakeKernel,
  id: string,
  { kind, destination }: { readonly kind: string; readonly destination: Destination },
): boolean {
  const key = `${id} ${destinationId(destination)}`;
  if ((kind === "newDestination") === destinations.has(key)) return false;
  if (kind === "deleteDestination") destinations.delete(key);
  else destinations.set(key, destination);
  return true;
}
