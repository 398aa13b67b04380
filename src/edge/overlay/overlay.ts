import { CoreError, messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import type { LoopThreadHost } from "../../net/threads/loop-thread.ts";
import { PROTOCOL_TCP, PROTOCOL_UDP } from "../../wire/ip/ip-numbers.ts";
import { reservedAddressesOf } from "../addresses/subnet.ts";
import type { NodePlan } from "../environment/edge-network.ts";
import { KnownServices } from "../environment/known-services.ts";
import type { NodeTunnel } from "../environment/node-tunnel.ts";
import type {
  FlowList,
  FlowRow,
  KernelPathRow,
  NodeList,
  NodeRow,
  RouteTable,
  TableRow,
} from "../environment/route-table.ts";
import { type ServiceIp, workloadName } from "../environment/workload.ts";
import { noKernelPath } from "../kernel-path/kernel-path.ts";
import {
  indexAddresses,
  indexNames,
  type NameSource,
  type NameTable,
} from "../names/name-table.ts";
import type { EdgeService } from "../table/service-table.ts";
import type { FlowNews } from "../tunnel/flow-keeper.ts";
import type { KeptFlow } from "../tunnel/kept-flow.ts";
import type { Tunnel } from "../tunnel/tunnel.ts";
import type { KernelPathUse } from "../tunnel/tunnel-messages.ts";
import { tunnelMetrics } from "../tunnel/tunnel-metrics.ts";
import { type Directory, NOTHING_REMOTE, type RemoteView } from "./directory.ts";
import { everywhere, openGuardedTunnel } from "./guarded-tunnel.ts";
import { mergeServices, serviceIpsOf } from "./merge-services.ts";
import { plainEndpoint } from "./plain-endpoint.ts";
import { nameOfKey, serviceKey } from "./service-key.ts";
import { settleClaims } from "./settle-claims.ts";

export interface OverlayOptions {
  /** Name of this node. */
  readonly node: string;
  readonly host: LoopThreadHost;
  /** UDP, of the tunnel. */
  readonly port: number;
  /** Base64. */
  readonly privateKey: string;
  /** Connections outlive the process, and a tunnel that was lost. */
  readonly connections: ConnectionKeeper;
  /** The tunnel is lost: it has to be opened again. */
  readonly onLost: () => void;
  /** Others send without having been told of: who they are is asked. For peers of mode `compat`. */
  readonly looksUpSenders?: boolean | undefined;
  /** For so long after a packet processors do not sleep; see `TunnelOptions`. */
  readonly awakeMs?: number;
  /** Whether short packets pass in the kernel; see `TunnelOptions`. */
  readonly kernelPath?: KernelPathUse;
  readonly log: Log;
}

/** Where the connections through the tunnel are known that go on with the next one. */
export interface ConnectionKeeper {
  readonly flows: readonly KeptFlow[];
  note(news: FlowNews): void;
}

const MAX_FLOWS_SHOWN = 1000;
const PROTOCOLS: ReadonlyMap<number, string> = new Map([
  [PROTOCOL_TCP, "tcp"],
  [PROTOCOL_UDP, "udp"],
]);

/**
 * The services of an edge as one node has them: what runs here, what the manager tells of others, and
 * the tunnel that is told both.
 */
export class Overlay implements RouteTable, FlowList, NodeList, NameTable, NameSource {
  readonly #options: OverlayOptions;
  readonly #known = new KnownServices();
  #directory: Directory | undefined;
  #tunnel: Tunnel | undefined;
  #local: readonly TableRow[] = [];
  #remote: RemoteView = NOTHING_REMOTE;
  #services: readonly EdgeService[] = [];
  #hasBegun = false;
  #names: ReadonlyMap<string, EdgeService> = new Map();
  readonly #nameListeners = new Set<() => void>();
  /** Made when one is asked for. */
  #addressNames: ReadonlyMap<string, string> | undefined;
  /** What services claim that others have, as it was told. */
  #lost = "";

  constructor(options: OverlayOptions) {
    this.#options = options;
  }

  /**
   * The tunnel is told what is known, and from now on what changes. Not before all is known that was before
   * a restart: a connection that goes on would be given to whoever is known first.
   */
  begin(): void {
    this.#hasBegun = true;
    this.#apply();
  }

  /** Asks this one for what is not known here. */
  setDirectory(directory: Directory): void {
    this.#directory = directory;
    directory.setLocal(this.#local);
  }

  /** Opens the tunnel of a node, with all that is known. @throws CoreError what the tunnel does */
  async open(plan: NodePlan): Promise<NodeTunnel> {
    const { node, host, port, privateKey, onLost, connections, log } = this.#options;
    const guarded = await openGuardedTunnel(
      host,
      {
        node,
        tunName: plan.tun,
        // The environment routes to it; addresses of workloads are those of the bridge.
        addresses: [],
        mtu: plan.mtu,
        listen: everywhere(port),
        privateKey,
        subnets: [plan.subnets.v4.text, plan.subnets.v6.text],
        serviceRanges: plan.serviceRanges.map(({ text }) => text),
        hairpin: reservedAddressesOf(plan.serviceRanges),
        keptFlows: connections.flows,
        looksUpSenders: this.#options.looksUpSenders ?? false,
        awakeMs: this.#options.awakeMs ?? 0,
        kernelPath: this.#options.kernelPath ?? "auto",
        onFlows: (news) => connections.note(news),
        lookUp: async (address) => (await this.#directory?.followAddress(address)) ?? false,
      },
      { log, onLost },
    );
    const { tunnel } = guarded;
    this.#tunnel = tunnel;
    this.#apply();
    return {
      get isLost() {
        return guarded.isLost;
      },
      close: async () => {
        if (this.#tunnel === tunnel) this.#tunnel = undefined;
        await guarded.close();
      },
    };
  }

  rows(): readonly TableRow[] {
    const places = new Map(this.#remote.peers.map(({ node, endpoint }) => [node, endpoint]));
    return this.#services.flatMap(({ key, addresses, instances }) =>
      instances.map(({ number, node, addresses: [first = "", second = ""] }) => {
        const own = this.#localRow(key, number);
        const place = places.get(node);
        return {
          appName: nameOfKey(key),
          instanceNumber: number,
          nodeIp: own?.nodeIp ?? place?.ip,
          nodePort: own?.nodePort ?? place?.port ?? 0,
          nsAddress: first,
          nsAddressv6: second,
          serviceIps: serviceIpsOf(addresses, number),
          isLocal: node === this.#options.node,
        };
      }),
    );
  }

  serviceNamed(name: string): EdgeService | undefined {
    return this.#names.get(name);
  }

  names(): ReadonlyMap<string, EdgeService> {
    return this.#names;
  }

  onNames(listener: () => void): () => void {
    this.#nameListeners.add(listener);
    return () => void this.#nameListeners.delete(listener);
  }

  nameOfAddress(ip: string): string | undefined {
    this.#addressNames ??= indexAddresses(this.#names);
    return this.#addressNames.get(ip);
  }

  async findNamed(names: readonly string[], signal: AbortSignal): Promise<boolean> {
    const found = (await this.#directory?.followNames(names)) ?? [];
    if (found.length === 0) return false;
    return (await this.#known.ensure(found, signal)).length < found.length;
  }

  setLocal(rows: readonly TableRow[]): void {
    this.#local = rows;
    this.#directory?.setLocal(rows);
    this.#apply();
  }

  /** What the manager tells of others, all of it. */
  setRemote(view: RemoteView): void {
    this.#remote = view;
    this.#apply();
  }

  async claim(row: TableRow): Promise<readonly ServiceIp[]> {
    const own = serviceKey(row.appName);
    const others = this.#services.filter(({ key }) => key !== own);
    const namesake = this.#names.get(row.appName.toLowerCase());
    if (namesake !== undefined && namesake.key !== own) {
      const message = `appName: "${row.appName}" is a name of ${nameOfKey(namesake.key)}; give another`;
      throw new CoreError("ERR_KEY_TAKEN", message);
    }
    for (const { address } of row.serviceIps) {
      const owner = others.find((other) => other.addresses.some((one) => one.address === address));
      if (owner === undefined) continue;
      const message = `serviceIp: ${address} is an address of ${nameOfKey(owner.key)}; give another`;
      throw new CoreError("ERR_ADDRESS_TAKEN", message);
    }
    return (await this.#directory?.announce(row)) ?? row.serviceIps;
  }

  async release(row: Pick<TableRow, "appName" | "instanceNumber">): Promise<void> {
    await this.#directory?.withdraw(row);
  }

  ensure(services: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    this.#directory?.follow(services);
    return this.#known.ensure(services, signal);
  }

  async flows(): Promise<readonly FlowRow[]> {
    const flows = (await this.#tunnel?.flows(MAX_FLOWS_SHOWN)) ?? [];
    return flows.map(({ protocol, service, instance, source, destination, node, state }) => ({
      protocol: PROTOCOLS.get(protocol) ?? "icmp",
      source,
      destination,
      instance: workloadName(nameOfKey(service), instance),
      node,
      state,
    }));
  }

  /** Whether packets pass at this moment. */
  get isOpen(): boolean {
    return this.#tunnel !== undefined;
  }

  /** What the tunnel did; nothing where there is none. */
  async metrics(): Promise<readonly MetricFamily[]> {
    const stats = await this.#tunnel?.stats().catch(() => undefined);
    return stats === undefined ? [] : tunnelMetrics(stats);
  }

  /** Keys of the services that flows lead to; undefined where there are too many flows to tell. */
  async servicesInUse(): Promise<ReadonlySet<string> | undefined> {
    const flows = (await this.#tunnel?.flows(MAX_FLOWS_SHOWN)) ?? [];
    return flows.length < MAX_FLOWS_SHOWN
      ? new Set(flows.map(({ service }) => service))
      : undefined;
  }

  async nodes(): Promise<readonly NodeRow[]> {
    const { peers = [] } = (await this.#tunnel?.stats()) ?? {};
    return peers.map(({ node, endpoint, mode, roundTripMs, bytesIn, bytesOut }) => ({
      name: node,
      endpoint: plainEndpoint(endpoint),
      mode: mode ?? null,
      roundTripMs: roundTripMs ?? null,
      bytesIn,
      bytesOut,
    }));
  }

  async kernelPath(): Promise<KernelPathRow> {
    const stats = await this.#tunnel?.stats();
    const { isOpen, reason = null } = stats?.kernelPath ?? noKernelPath("there is no tunnel");
    return { isOpen, reason };
  }

  #localRow(key: string, number: number): TableRow | undefined {
    return this.#local.find(
      ({ appName, instanceNumber }) => instanceNumber === number && serviceKey(appName) === key,
    );
  }

  #apply(): void {
    const { node, log } = this.#options;
    const merged = mergeServices(node, this.#local, this.#remote.services);
    const { services, lost } = settleClaims(merged);
    if (lost.join() !== this.#lost && lost.length > 0) {
      log.warn({ lost }, "services are not reached by what others have");
    }
    this.#lost = lost.join();
    try {
      if (this.#hasBegun) this.#tunnel?.apply({ services, peers: this.#remote.peers });
      this.#services = services;
      this.#names = indexNames(services);
      this.#addressNames = undefined;
      for (const listener of this.#nameListeners) listener();
    } catch (error) {
      log.error({ err: error }, `the tunnel goes on with what it knew: ${messageOf(error)}`);
    }
    const served = this.#services.filter(({ instances }) => instances.length > 0);
    this.#known.set(served.map(({ key }) => nameOfKey(key)));
  }
}
