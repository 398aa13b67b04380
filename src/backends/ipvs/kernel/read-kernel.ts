import type { Family } from "../../../core/model/address.ts";
import type { HostAddresses } from "../../../platform/linux/links/service-link.ts";
import type {
  Destination,
  DestinationState,
  VirtualServer,
  VirtualServerState,
} from "../../../wire/netlink/ipvs/virtual-server.ts";
import type { FamilySets, SetKey } from "../glue/set-names.ts";
import type { IpvsPlatform } from "./platform.ts";
import type { Member } from "./proxier.ts";

/** All of one family that the kernel holds. */
interface KernelState {
  readonly servers: readonly {
    readonly server: VirtualServer;
    readonly destinations: readonly Destination[];
  }[];
  readonly members: readonly Member[];
  readonly addresses: HostAddresses;
}

export async function readKernel(
  { ipvs, sets, link }: IpvsPlatform,
  family: Family,
  names: FamilySets,
): Promise<KernelState> {
  const servers: { server: VirtualServer; destinations: readonly Destination[] }[] = [];
  for (const state of await ipvs.servers()) {
    if (state.family !== family) continue;
    const destinations = (await ipvs.destinations(state)).map(destinationOf);
    servers.push({ server: serverOf(state), destinations });
  }
  const members: Member[] = [];
  for (const key of keysOf(names)) {
    const entries = (await sets.entries(names[key].name)) ?? [];
    for (const entry of entries) members.push({ set: key, entry });
  }
  return { servers, members, addresses: await link.addresses(family) };
}

/** Without what was counted. */
function serverOf({ statistics: _, ...server }: VirtualServerState): VirtualServer {
  return server;
}

/** One that does not translate addresses is not as wanted, whatever its weight. */
function destinationOf({ ip, port, weight, isTranslated }: DestinationState): Destination {
  return { ip, port, weight: isTranslated ? weight : -1 };
}

function keysOf(names: FamilySets): readonly SetKey[] {
  const isKey = (key: string): key is SetKey => key in names;
  return Object.keys(names).filter(isKey);
}
