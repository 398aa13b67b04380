import { CoreError, messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { Cidr } from "../../core/model/address.ts";
import { Turns } from "../../core/turns.ts";
import { AddressPlan } from "../addresses/address-plan.ts";
import type { NodeSubnets } from "../addresses/subnet.ts";
import { awaitNeeds } from "./await-needs.ts";
import { checkSubnets } from "./check-subnets.ts";
import { EdgeEvents } from "./edge-events.ts";
import type { EdgeNetwork, Egress, IngressPort, NodePlan } from "./edge-network.ts";
import type { FindNamespace } from "./find-namespace.ts";
import { hostLinkOf } from "./link-names.ts";
import { EMPTY_STATE, keptSubnets, type StateKeeper } from "./node-state.ts";
import type { NodeTunnel, OpenTunnel } from "./node-tunnel.ts";
import { putRight } from "./put-right.ts";
import { refuseOther, refuseTakenPorts, taken } from "./refusals.ts";
import { type RouteTable, rowOf } from "./route-table.ts";
import { type Deployment, type FoundNamespace, type Workload, workloadName } from "./workload.ts";
import { WorkloadBook, type WorkloadEntry } from "./workload-book.ts";

export interface EnvironmentOptions {
  readonly bridge: string;
  readonly tun: string;
  readonly mtu: number;
  readonly serviceRanges: readonly Cidr[];
  /** The tunnel's, where other nodes reach this one. */
  readonly nodePort: number;
  /** Where this node is reached, as far as it can tell at this moment. */
  readonly nodeAddress: () => string | undefined;
  /** How long a deployment waits for the services that it needs. */
  readonly needsTimeoutMs: number;
  /** What workloads may reach beyond the overlay; missing: everything. */
  readonly egress?: Egress;
}

export interface EnvironmentParts {
  readonly network: EdgeNetwork;
  readonly keeper: StateKeeper;
  readonly findNamespace: FindNamespace;
  readonly table: RouteTable;
  /** Without one, service addresses lead nowhere. */
  readonly openTunnel?: OpenTunnel;
  readonly log: Log;
  readonly nowMs: () => number;
}

/** What holds once the node has a subnetwork. */
interface Registered {
  readonly plan: NodePlan;
  readonly addresses: AddressPlan;
}

/**
 * Connects the workloads of one node: bridge, links, addresses, routes and published ports. What it
 * did is written down before it is answered, and found again by the next process.
 */
export class EnvironmentManager {
  readonly events: EdgeEvents;
  readonly #options: EnvironmentOptions;
  readonly #parts: EnvironmentParts;
  readonly #turns = new Turns();
  readonly #book = new WorkloadBook();
  #registered: Registered | undefined;
  #tunnel: { readonly of: NodeSubnets; readonly opened: NodeTunnel } | undefined;
  #peerNetworks: readonly Cidr[] = [];
  #ingress: readonly IngressPort[] = [];
  #nodeIp: string | undefined;

  private constructor(options: EnvironmentOptions, parts: EnvironmentParts) {
    this.#options = options;
    this.#parts = parts;
    this.events = new EdgeEvents(parts.nowMs);
    this.#nodeIp = options.nodeAddress();
  }

  /** Finds what the process before it had, and leaves workloads that run as they are. */
  static async open(
    options: EnvironmentOptions,
    parts: EnvironmentParts,
  ): Promise<EnvironmentManager> {
    const manager = new EnvironmentManager(options, parts);
    const { node, workloads } = (await parts.keeper.load()) ?? EMPTY_STATE;
    const subnets = keptSubnets(node);
    if (node === undefined || subnets === undefined) return manager;
    refuseOther(node, options);
    await manager.#restore(subnets, workloads);
    return manager;
  }

  /** Undefined before it is registered. */
  get plan(): NodePlan | undefined {
    return this.#registered?.plan;
  }

  get nodeIp(): string | undefined {
    return this.#nodeIp;
  }

  get nodePort(): number {
    return this.#options.nodePort;
  }

  get room(): { readonly used: number; readonly capacity: number } {
    const { used = 0, capacity = 0 } = this.#registered?.addresses ?? {};
    return { used, capacity };
  }

  workloads(): readonly WorkloadEntry[] {
    return this.#book.all();
  }

  /**
   * Gives the node its networks. The same ones again change nothing.
   * @throws CoreError ERR_USAGE with the field, ERR_IN_USE where workloads have addresses of others
   */
  register(subnets: NodeSubnets): Promise<void> {
    return this.#turns.take(async () => {
      const before = this.#registered?.plan.subnets;
      if (before?.v4.text === subnets.v4.text && before.v6.text === subnets.v6.text) return;
      await checkSubnets(subnets, this.#options, this.#parts.network);
      if (before !== undefined && this.#book.size > 0) {
        const message = `subnetwork: this node has ${before.v4.text}, and ${this.#book.size} workloads in it; undeploy them first, or remove it all: portolan cleanup --edge`;
        throw new CoreError("ERR_IN_USE", message);
      }
      const registered = this.#planOf(subnets);
      await this.#buildNode(registered.plan);
      await this.#parts.network.publish(registered.plan, []);
      await this.#save(subnets, []);
      this.#registered = registered;
      const [subnetwork, subnetworkv6] = [subnets.v4.text, subnets.v6.text];
      this.events.tell({ type: "registered", subnetwork, subnetworkv6 });
    });
  }

  /**
   * Connects a workload. The same one again is answered with what it has.
   * @throws CoreError ERR_USAGE with the field, ERR_NOT_FOUND, ERR_KEY_TAKEN, ERR_ADDRESS_TAKEN,
   *   ERR_IN_USE, ERR_JOURNAL, ERR_SYSTEM_CALL; then nothing of it is left
   */
  async deploy(deployment: Deployment): Promise<Workload> {
    this.#mustBeRegistered();
    // Not within a turn: what it waits for may be the next one to be deployed.
    await awaitNeeds(deployment.needs, this.#parts.table, this.#options.needsTimeoutMs);
    return this.#turns.take(() => this.#deploy(deployment));
  }

  /** @returns the workload that went; undefined where there was none of that name */
  async undeploy(name: string): Promise<Workload | undefined> {
    this.#mustBeRegistered();
    return this.#turns.take(async () => {
      const entry = this.#book.get(name);
      if (entry === undefined) return undefined;
      await this.#remove(entry);
      this.#tellOf("undeployed", entry.workload);
      return entry.workload;
    });
  }

  /** The networks of other nodes changed: workloads reach them through the tunnel. */
  setPeerNetworks(networks: readonly Cidr[]): Promise<void> {
    return this.#turns.take(async () => {
      this.#peerNetworks = networks;
      if (this.#registered === undefined) return;
      const { addresses, plan } = this.#registered;
      this.#registered = { addresses, plan: { ...plan, peerNetworks: networks } };
      // What may not leave by another way is said before the way through the tunnel is there.
      await this.#parts.network.publish(this.#registered.plan, this.#book.publishedPorts());
      await this.#buildNode(this.#registered.plan);
    });
  }

  /** From now on those outside are let in to services there, and nowhere else. */
  setIngress(ports: readonly IngressPort[]): Promise<void> {
    return this.#turns.take(async () => {
      this.#ingress = ports;
      if (this.#registered === undefined) return;
      const { addresses, plan } = this.#registered;
      this.#registered = { addresses, plan: { ...plan, ingress: ports } };
      await this.#parts.network.publish(this.#registered.plan, this.#book.publishedPorts());
    });
  }

  /** Looks at the kernel, puts right what can be, and tells what can not. */
  reconcile(): Promise<void> {
    return this.#turns.take(async () => {
      this.#followNodeAddress();
      if (this.#registered === undefined) return;
      await this.#putRight(this.#registered.plan);
      this.#tellTable();
    });
  }

  /** Ends what it holds; the network of workloads stays. */
  async close(): Promise<void> {
    await this.#turns.over();
    await this.#tunnel?.opened.close();
    this.#parts.network.close();
  }

  /** @throws CoreError ERR_USAGE where the node has no networks yet */
  assertRegistered(): void {
    this.#mustBeRegistered();
  }

  #mustBeRegistered(): Registered {
    if (this.#registered !== undefined) return this.#registered;
    throw new CoreError("ERR_USAGE", "this node has no subnetwork yet; expected /register first");
  }

  #planOf(subnets: NodeSubnets): Registered {
    const { bridge, tun, mtu, serviceRanges, egress } = this.#options;
    const addresses = new AddressPlan(subnets);
    const peerNetworks = this.#peerNetworks;
    const ingress = this.#ingress;
    const ways = { serviceRanges, peerNetworks, ingress, ...(egress && { egress }) };
    const plan = { bridge, tun, mtu, subnets, ...ways };
    return { plan: { ...plan, addresses: addresses.bridge }, addresses };
  }

  #buildNode(plan: NodePlan): Promise<void> {
    return this.#withTunnel(plan, () => this.#parts.network.ensureNode(plan));
  }

  /** Its way is made by `act`: whoever is told that it is open again finds it so. */
  async #withTunnel(plan: NodePlan, act: () => Promise<void>): Promise<void> {
    const before = this.#tunnel;
    await this.#ensureTunnel(plan);
    await act();
    if (before === undefined || before === this.#tunnel) return;
    this.#parts.log.info({ tun: plan.tun }, "the tunnel is open again");
  }

  /** One that was lost, or is of other networks, makes room for another. */
  async #ensureTunnel(plan: NodePlan): Promise<void> {
    const { openTunnel } = this.#parts;
    const { subnets } = plan;
    const there = this.#tunnel;
    if (openTunnel === undefined) return;
    if (there !== undefined) {
      const isSame = there.of.v4.text === subnets.v4.text && there.of.v6.text === subnets.v6.text;
      if (isSame && !there.opened.isLost) return;
      this.#tunnel = undefined;
      await there.opened.close();
    }
    this.#tunnel = { of: subnets, opened: await openTunnel(plan) };
  }

  async #restore(subnets: NodeSubnets, workloads: readonly Workload[]): Promise<void> {
    const registered = this.#planOf(subnets);
    for (const workload of workloads) {
      const { name, addresses } = workload;
      if (!registered.addresses.take(addresses)) {
        const message = `${name}: ${addresses.v4} is not an address of ${subnets.v4.text} that is free`;
        throw new CoreError("ERR_STATE_INVALID", message);
      }
      this.#book.set(workload, "up");
    }
    await this.#buildNode(registered.plan);
    this.#registered = registered;
    await this.#putRight(registered.plan);
    this.#tellTable();
    const fields = { subnet: subnets.v4.text, workloads: workloads.length };
    this.#parts.log.info(fields, "this node was found as it was left");
  }

  #putRight(plan: NodePlan): Promise<void> {
    const { network, log } = this.#parts;
    const repair = { plan, book: this.#book, network, events: this.events, log };
    return this.#withTunnel(plan, () => putRight(repair));
  }

  async #deploy(deployment: Deployment): Promise<Workload> {
    const { plan, addresses } = this.#mustBeRegistered();
    const { network, findNamespace } = this.#parts;
    const name = workloadName(deployment.appName, deployment.instanceNumber);
    const before = this.#book.get(name);
    // Its container ended, and was started anew.
    if (before?.health === "lost") await this.#remove(before);
    const namespace = await findNamespace(deployment.containerId);
    try {
      const same = before?.health === "up" ? await this.#goOn(before, namespace) : undefined;
      refuseTakenPorts(deployment.portMappings, name, { book: this.#book, network });
      if (same !== undefined) {
        const serviceIps = await this.#claim({ ...same, ...deployment });
        return await this.#keep(plan, { ...same, ...deployment, serviceIps });
      }
      const pair = addresses.allocate();
      const draft = { ...deployment, name, namespace, addresses: pair };
      try {
        return await this.#attach(plan, { ...draft, serviceIps: await this.#claim(draft) });
      } catch (error) {
        await this.#parts.table.release(deployment);
        addresses.free(pair);
        throw error;
      }
    } catch (error) {
      network.removeNamespace(namespace);
      throw error;
    }
  }

  /** What is deployed already, where it is in that namespace; undefined where it has ended, and made room. */
  async #goOn(before: WorkloadEntry, found: FoundNamespace): Promise<Workload | undefined> {
    const { workload } = before;
    const { namespace } = workload;
    const isThere = this.#parts.network.isThere(namespace);
    if (namespace.id !== found.id) {
      if (isThere) throw taken(workload);
      await this.#remove(before);
      return undefined;
    }
    // The process that it was found by may have ended, and others have stayed.
    return isThere ? workload : { ...workload, namespace: { ...found, madeAs: namespace.madeAs } };
  }

  #claim(workload: Parameters<typeof rowOf>[0]): Promise<Workload["serviceIps"]> {
    const { table } = this.#parts;
    return table.claim(rowOf(workload, { ip: this.#nodeIp, port: this.#options.nodePort }));
  }

  async #attach(plan: NodePlan, draft: Omit<Workload, "hostLink" | "link">): Promise<Workload> {
    const { network } = this.#parts;
    const hostLink = hostLinkOf(draft.name);
    const link = await network.attach(plan, { ...draft, hostLink });
    try {
      const workload = await this.#keep(plan, { ...draft, hostLink, link });
      this.#tellOf("deployed", workload);
      return workload;
    } catch (error) {
      await network.detach(hostLink);
      throw error;
    }
  }

  /** Publishes its ports and writes it down; where that fails, all is as before. */
  async #keep(plan: NodePlan, workload: Workload): Promise<Workload> {
    const { network, log } = this.#parts;
    const { name } = workload;
    const before = this.#book.get(name);
    this.#book.set(workload, "up");
    try {
      await network.publish(plan, this.#book.publishedPorts());
      await this.#save(plan.subnets, [...this.#book.without(name), workload]);
    } catch (error) {
      this.#book.putBack(name, before);
      await network.publish(plan, this.#book.publishedPorts()).catch((err: unknown) => {
        log.error({ err }, `published ports are not as they were: ${messageOf(err)}`);
      });
      throw error;
    }
    this.#tellTable();
    return workload;
  }

  async #remove({ workload }: WorkloadEntry): Promise<void> {
    const { plan, addresses } = this.#mustBeRegistered();
    const { network } = this.#parts;
    const { name, hostLink, namespace } = workload;
    // From here on it is not served; where something fails, undeploying it again goes on.
    this.#book.set(workload, "lost");
    await network.publish(plan, this.#book.publishedPorts());
    await network.detach(hostLink);
    if (!this.#book.passOn(workload)) network.removeNamespace(namespace);
    await this.#save(plan.subnets, this.#book.without(name));
    this.#book.putBack(name, undefined);
    addresses.free(workload.addresses);
    this.#tellTable();
    await this.#parts.table.release(workload);
  }

  #save({ v4, v6 }: NodeSubnets, workloads: readonly Workload[]): Promise<void> {
    const { bridge, serviceRanges } = this.#options;
    const ranges = serviceRanges.map(({ text }) => text);
    const node = { v4: v4.text, v6: v6.text, bridge, serviceRanges: ranges };
    return this.#parts.keeper.save({ version: 1, node, workloads });
  }

  #tellTable(): void {
    const node = { ip: this.#nodeIp, port: this.#options.nodePort };
    this.#parts.table.setLocal(this.#book.connected().map((workload) => rowOf(workload, node)));
  }

  #tellOf(type: "deployed" | "undeployed", { name: serviceName, addresses }: Workload): void {
    const { v4: nsAddress, v6: nsAddressv6 } = addresses;
    this.events.tell({ type, serviceName, nsAddress, nsAddressv6 });
  }

  #followNodeAddress(): void {
    const now = this.#options.nodeAddress();
    const before = this.#nodeIp;
    if (now === before || now === undefined) return;
    this.#nodeIp = now;
    this.events.tell({ type: "address-changed", nodeIp: now, before: before ?? "" });
  }
}
