import {
  type Cidr,
  cidrContains,
  type Family,
  familyOf,
  formatHostPort,
} from "../../../core/model/address.ts";
import type { EdgeAddress } from "../../../core/model/service.ts";
import type { RemoteView } from "../../../edge/overlay/directory.ts";
import { namesOf } from "../../../edge/overlay/merge-services.ts";
import { foreignAddress } from "../../../edge/overlay/peers-of-nodes.ts";
import { serviceKey } from "../../../edge/overlay/service-key.ts";
import type { EdgeInstance } from "../../../edge/table/live-instance.ts";
import type { EdgeService } from "../../../edge/table/service-table.ts";
import { ipAddress } from "../../../platform/socket-address.ts";
import type { ClusterInstance } from "../../../wire/mqtt-edge/cluster-messages.ts";

type Instances = readonly ClusterInstance[];

/** What tells this node from others in what a cluster tells. */
export interface OwnPlace {
  readonly node: string;
  readonly ip: string | undefined;
  readonly port: number;
  readonly subnets: readonly Cidr[];
  readonly serviceRanges: readonly Cidr[];
  /** What this machine speaks. */
  readonly families: readonly Family[];
}

/** What is known of others, and which nodes can not be called from here, each with the reason. */
export interface ClusterView extends RemoteView {
  readonly leftOut: readonly string[];
}

/**
 * What a cluster tells of jobs, as the overlay takes it. Nodes have no names there: one is where its tunnel
 * is, and has the addresses of its instances. What two claim is the first one's.
 */
export function viewOfCluster(
  jobs: Iterable<readonly [string, Instances]>,
  own: OwnPlace,
): ClusterView {
  const taken = new Set<string>();
  const take = (what: string): boolean => {
    if (taken.has(what)) return false;
    taken.add(what);
    return true;
  };
  const hosts = new Map<string, { readonly ip: string; readonly port: number; ips: string[] }>();
  const services = [...jobs].map(([job, instances]): EdgeService => {
    const key = serviceKey(job);
    return {
      ...{ key, names: namesOf(key) },
      addresses: addressesOf(instances, own).filter(({ address }) => take(address)),
      instances: instances.flatMap((instance): EdgeInstance[] => {
        const { number, host } = instance;
        const addresses = instance.addresses.filter(take);
        if (host === undefined || addresses.length === 0) return [];
        const node = nodeOf(instance, own);
        if (node !== own.node) {
          const there = hosts.get(node) ?? { ...host, ips: [] };
          there.ips.push(...addresses);
          hosts.set(node, there);
        }
        return [{ number, node, addresses, weight: 1 }];
      }),
    };
  });
  const all = [...hosts].map(([node, { ip, port, ips }]) => ({
    node,
    endpoint: ipAddress(ip, port),
    subnets: ips.map((each) => `${each}/${familyOf(each) === "v4" ? 32 : 128}`),
    modes: ["compat"] as const,
  }));
  const isCalled = ({ endpoint }: (typeof all)[number]): boolean =>
    own.families.includes(endpoint.family);
  const foreign = all.filter((peer) => !isCalled(peer));
  return {
    services,
    peers: all.filter(isCalled),
    leftOut: foreign.map(({ node, endpoint }) => `${node}: ${foreignAddress(endpoint)}`),
  };
}

/** Each once, though every instance has those of its service. */
function addressesOf(instances: Instances, { serviceRanges }: OwnPlace): readonly EdgeAddress[] {
  const all = new Map<string, EdgeAddress>();
  for (const { number, serviceIps } of instances) {
    for (const { policy, address } of serviceIps) {
      if (!serviceRanges.some((range) => cidrContains(range, address))) continue;
      all.set(address, { address, policy, instance: policy === "instance" ? number : -1 });
    }
  }
  return [...all.values()];
}

/** What has an address of ours, or is said to be where we are, is ours: of an earlier time perhaps. */
function nodeOf({ host, addresses }: ClusterInstance, own: OwnPlace): string {
  const isHere = addresses.some((ip) => own.subnets.some((subnet) => cidrContains(subnet, ip)));
  if (host === undefined || isHere || (host.ip === own.ip && host.port === own.port)) {
    return own.node;
  }
  return formatHostPort(host.ip, host.port);
}
