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
import type { Member } from "./set-members.ts";
import type { FoundServer } from "./virtual-servers.ts";

/** All of one family that the kernel holds. */
interface KernelState {
  readonly servers: readonly FoundServer[];
  readonly members: readonly Member[];
  readonly addresses: HostAddresses;
}

export async function readKernel(
  { ipvs, sets, link }: IpvsPlatform,
  family: Family,
  names: FamilySets,
): Promise<KernelState> {
  const servers: FoundServer[] = [];
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

/** Without what was counted. Affinity of networks is not as wanted, however long it lasts. */
function serverOf({ statistics: _, isByAddress, ...server }: VirtualServerState): VirtualServer {
  return isByAddress ? server : { ...server, persistenceSeconds: -1 };
}

/** One that does not translate addresses, or does not take all, is not as wanted, whatever its weight. */
function destinationOf(state: DestinationState): Destination {
  const { ip, port, weight, isTranslated, isLimited } = state;
  return { ip, port, weight: isTranslated && !isLimited ? weight : -1 };
}

function keysOf(names: FamilySets): readonly SetKey[] {
  const isKey = (key: string): key is SetKey => key in names;
  return Object.keys(names).filter(isKey);
}
