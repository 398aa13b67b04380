import type { Endpoint } from "../../../platform/windows/endpoint.ts";
import { remoteEndpoint } from "../../../platform/windows/endpoint.ts";
import type { LoadBalancer, MappingFlag } from "../../../platform/windows/load-balancer.ts";
import type { Target } from "../../port-targets.ts";
import { type HcnContext, isNodeAddress, isOverlay, nodeIpOf, providerOf } from "./hcn-context.ts";
import { type Frontend, loadBalancerId, remoteEndpointId, remoteMac } from "./object-ids.ts";

/** A way in, with how HNS should treat it. */
export interface FrontendPlan extends Frontend {
  readonly isDsr: boolean;
  readonly isSticky: boolean;
  readonly flags: readonly MappingFlag[];
}

/** Collects what has to exist for one service. */
export class ServiceObjects {
  /** Remote ones, by id. */
  readonly endpoints: Map<string, Endpoint> = new Map();
  readonly loadBalancers: Map<string, LoadBalancer> = new Map();
  /** What HCN can not do of what is asked, in words. */
  readonly limits: Set<string> = new Set();
  /** Addresses on this node that have no endpoint (yet). */
  readonly missing: Set<string> = new Set();
  /** Addresses elsewhere to which no route of the overlay leads (yet). */
  readonly unrouted: Set<string> = new Set();
  readonly #context: HcnContext;
  readonly #localIps: ReadonlySet<string>;

  /** @param localIps addresses of the service's endpoints on this node */
  constructor(context: HcnContext, localIps: ReadonlySet<string>) {
    this.#context = context;
    this.#localIps = localIps;
  }

  /** On an overlay network packets to a cluster IP need somebody to be sent to: this node. */
  addClusterIpEndpoint(ip: string): void {
    const { network, hostMac, nodeIps } = this.#context;
    this.#addRemote(ip, { macAddress: hostMac, providerAddress: nodeIps[0] ?? "" }, network.id);
  }

  /** Nothing where nobody serves: HNS takes no load balancer without endpoints. */
  addLoadBalancer(frontend: FrontendPlan, targets: readonly Target[]): void {
    const internalPort = commonPort(targets);
    if (targets.some(({ port }) => port !== internalPort)) {
      this.limits.add(
        "a load balancer has one port for all its endpoints: those that serve on another are left out",
      );
    }
    if (targets.some(({ share }) => Math.abs(share * targets.length - 1) > SHARE_TOLERANCE)) {
      this.limits.add("HCN knows no weights: endpoints are chosen evenly");
    }
    const ips = targets.filter(({ port }) => port === internalPort).map(({ ip }) => ip);
    const endpoints = ips.flatMap((ip) => this.#endpointId(ip) ?? []);
    if (endpoints.length === 0) return;
    const { protocol, vip, port, family, isDsr, isSticky, flags } = frontend;
    const id = loadBalancerId(frontend);
    // An external IP may also be the load balancer's: the first that asks for it has it.
    if (this.loadBalancers.has(id)) return;
    this.loadBalancers.set(id, {
      id,
      endpoints: [...new Set(endpoints)].sort(),
      sourceVip: this.#sourceVip(ips, frontend),
      frontendVips: vip === "" ? [] : [vip],
      portMappings: [
        {
          protocol,
          internalPort,
          externalPort: port,
          distribution: isSticky ? "source-ip" : "none",
          flags,
          otherFlags: 0,
        },
      ],
      isDsr,
      isIpv6: family === "v6",
      otherFlags: 0,
    });
  }

  #endpointId(ip: string): string | undefined {
    const { network, localEndpoints } = this.#context;
    const local = localEndpoints.get(ip);
    if (local !== undefined) return local;
    if (this.#localIps.has(ip)) {
      this.missing.add(ip);
      return undefined;
    }
    return this.#addRemote(ip, this.#remoteFields(ip), network.id);
  }

  #remoteFields(ip: string): RemoteFields {
    const { network, nodeIps } = this.#context;
    const macAddress = remoteMac(ip);
    if (!isOverlay(network)) return { macAddress, providerAddress: "" };
    const provider = providerOf(network, ip);
    if (provider === undefined && !isNodeAddress(network, ip)) this.unrouted.add(ip);
    return { macAddress, providerAddress: provider ?? nodeIps[0] ?? "" };
  }

  #addRemote(ip: string, fields: RemoteFields, networkId: string): string {
    const id = remoteEndpointId(networkId, ip);
    const addresses = [{ address: ip, prefixLength: 0 }];
    this.endpoints.set(
      id,
      remoteEndpoint({ id, name: `portolan-${ip}`, networkId, addresses, ...fields }),
    );
    return id;
  }

  /** What is outside of the overlay answers the node, and nobody else. */
  #sourceVip(ips: readonly string[], { family }: FrontendPlan): string {
    const { network, sourceVip, localEndpoints } = this.#context;
    if (!isOverlay(network)) return sourceVip;
    const isOutside = (ip: string): boolean =>
      !localEndpoints.has(ip) && providerOf(network, ip) === undefined;
    return ips.some(isOutside) ? nodeIpOf(this.#context, family) : sourceVip;
  }
}

type RemoteFields = Pick<Endpoint, "macAddress" | "providerAddress">;

/** Shares are fractions: a third is not exact. */
const SHARE_TOLERANCE = 1e-6;

/** The port that most serve on; of several the lowest. */
function commonPort(targets: readonly Target[]): number {
  const counts = new Map<number, number>();
  for (const { port } of targets) counts.set(port, (counts.get(port) ?? 0) + 1);
  const ports = [...counts].sort(([a, ofA], [b, ofB]) => ofB - ofA || a - b);
  return ports[0]?.[0] ?? 0;
}
