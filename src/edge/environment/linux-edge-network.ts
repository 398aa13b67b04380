import { existsSync } from "node:fs";
import { CoreError, messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { cidrContains, type Family, familyOf } from "../../core/model/address.ts";
import {
  type ConntrackTable,
  openConntrackTable,
} from "../../platform/linux/conntrack/conntrack-table.ts";
import { LinkTable } from "../../platform/linux/links/link-table.ts";
import { watchLinks } from "../../platform/linux/links/route-watch.ts";
import { namedNamespacePath, removeNamedNamespace } from "../../platform/linux/named-namespace.ts";
import {
  removeNamespaceResolvers,
  writeNamespaceResolvers,
} from "../../platform/linux/namespace-resolvers.ts";
import { findSocketHolder } from "../../platform/linux/socket-holder.ts";
import { type Sysctl, systemSysctl } from "../../platform/linux/sysctl.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { Flow } from "../../wire/netlink/conntrack/flow.ts";
import type { ListedLink } from "../../wire/netlink/route/pair-codec.ts";
import { attachWorkload, isSameNamespace } from "./attach-workload.ts";
import type {
  AttachPlan,
  EdgeNetwork,
  NodePlan,
  PortHolder,
  PublishedPort,
} from "./edge-network.ts";
import { EdgeRuleWriter } from "./edge-rule-writer.ts";
import { renderRemoval, renderRules, rulesPlanOf } from "./edge-rules.ts";
import { enableForwarding } from "./enable-forwarding.ts";
import { isHostLink, macOf } from "./link-names.ts";
import { machineFamilies } from "./machine-families.ts";
import type { PortMapping } from "./port-mappings.ts";
import { changedPorts, isStale } from "./stale-flows.ts";
import { TunnelRoutes } from "./tunnel-routes.ts";
import type { FoundNamespace } from "./workload.ts";

const WILDCARD = { v4: "0.0.0.0", v6: "::" } as const;
/** The network of a node in the network namespace that this thread is in. */
export class LinuxEdgeNetwork implements EdgeNetwork {
  readonly #links = new LinkTable();
  readonly #rules = new EdgeRuleWriter();
  readonly #flows: ConntrackTable = openConntrackTable();
  readonly #sysctl: Sysctl = systemSysctl;
  readonly #families: readonly Family[] = machineFamilies();
  readonly #routes = new TunnelRoutes(this.#links, this.#families);
  /** What the rules publish. */
  #published: readonly PublishedPort[] = [];

  readonly #tellsResolver: Log | undefined;

  /** @param tellsResolver workloads are told to ask the bridge for names; complaints go there */
  constructor({ tellsResolver }: { readonly tellsResolver?: Log } = {}) {
    this.#tellsResolver = tellsResolver;
  }

  async ensureNode(plan: NodePlan): Promise<void> {
    await enableForwarding(this.#sysctl, this.#families);
    const bridge = await this.#ensureBridge(plan);
    await this.#ensureAddresses(bridge, plan);
    await this.#routes.ensure(plan);
  }

  async findConflict({
    bridge,
    subnets,
  }: Pick<NodePlan, "bridge" | "subnets">): Promise<string | undefined> {
    const links = await this.#links.list();
    const own = links.find(({ name }) => name === bridge)?.link;
    for (const { link, ip } of await this.#links.addresses()) {
      if (link === own || !cidrContains(subnets[familyOf(ip)], ip)) continue;
      return `${ip} of ${links.find((one) => one.link === link)?.name ?? `link ${link}`}`;
    }
    return undefined;
  }

  async attach(plan: NodePlan, workload: AttachPlan): Promise<string> {
    const bridge = await this.#links.find(plan.bridge);
    if (bridge === undefined) throw new CoreError("ERR_ABORTED", `${plan.bridge} is gone`);
    this.#tellResolver(plan, workload.namespace);
    return attachWorkload({
      links: this.#links,
      bridge: bridge.link,
      plan,
      workload,
      families: this.#families,
    });
  }

  async detach(hostLink: string): Promise<void> {
    await this.#links.remove(hostLink);
  }

  async attached(bridge: string): Promise<ReadonlySet<string>> {
    const links = await this.#links.list();
    const master = links.find(({ name }) => name === bridge)?.link;
    const ports = links.filter((link) => link.master === master && isHostLink(link.name));
    return new Set(master === undefined ? [] : ports.map(({ name }) => name));
  }

  isThere(namespace: FoundNamespace): boolean {
    return isSameNamespace(namespace);
  }

  removeNamespace(namespace: FoundNamespace): void {
    const { madeAs } = namespace;
    if (madeAs === "") return;
    const isOurs = isSameNamespace(namespace);
    // Somebody may have made another one of that name.
    if (!isOurs && existsSync(namedNamespacePath(madeAs))) return;
    removeNamespaceResolvers(madeAs);
    if (isOurs) removeNamedNamespace(madeAs);
  }

  async publish(plan: NodePlan, ports: readonly PublishedPort[]): Promise<void> {
    const script = renderRules(rulesPlanOf(plan), ports, this.#families);
    if (!(await this.#rules.write(script))) return;
    const changed = changedPorts(this.#published, ports);
    this.#published = ports;
    for (const hostPort of changed) await this.#forgetFlows(plan, ports, hostPort);
  }

  findHolder(ports: readonly PortMapping[]): PortHolder | undefined {
    for (const port of ports) {
      for (const family of this.#families) {
        const on = ipAddress(WILDCARD[family], port.hostPort);
        const found = findSocketHolder(on, port.protocol === "tcp" ? "TCP" : "UDP");
        if (found !== undefined) return { port, holder: `${found.program} (pid ${found.pid})` };
      }
    }
    return undefined;
  }

  async removeNode(plan: Pick<NodePlan, "bridge" | "serviceRanges">): Promise<void> {
    for (const hostLink of await this.attached(plan.bridge)) await this.#links.remove(hostLink);
    await this.#links.remove(plan.bridge);
    await this.#routes.remove(plan.serviceRanges);
    await this.#rules.remove(renderRemoval(this.#families));
  }

  watch(onChange: () => void): { close(): void } {
    return watchLinks(onChange);
  }

  close(): void {
    this.#links.close();
    this.#rules.close();
    this.#flows.close();
  }

  /** A workload without it still is one. */
  #tellResolver({ addresses }: NodePlan, { madeAs }: FoundNamespace): void {
    if (this.#tellsResolver === undefined || madeAs === "") return;
    try {
      const ips = this.#families.map((family) => addresses[family]);
      writeNamespaceResolvers(madeAs, ips);
    } catch (err) {
      const message = `its resolver could not be written down: ${messageOf(err)}`;
      this.#tellsResolver.warn({ err, namespace: madeAs }, message);
    }
  }

  async #forgetFlows(
    { subnets }: NodePlan,
    ports: readonly PublishedPort[],
    hostPort: number,
  ): Promise<void> {
    const ownAddresses = new Set((await this.#links.addresses()).map(({ ip }) => ip));
    for (const family of this.#families) {
      const stale: Flow[] = [];
      await this.#flows.list(
        { family, protocol: "UDP", dstPort: hostPort },
        (protocol, port) => protocol === "UDP" && port === hostPort,
        (flow) => {
          if (isStale(flow, { subnets, ports, ownAddresses })) stale.push(flow);
        },
      );
      await this.#flows.remove(stale);
    }
  }

  async #ensureBridge({ bridge: name, mtu }: NodePlan): Promise<ListedLink> {
    const there = await this.#links.find(name);
    if (there === undefined) {
      await this.#links.makeBridge({ name, mtu, mac: macOf(name) });
      const made = await this.#links.find(name);
      if (made === undefined) throw new CoreError("ERR_ABORTED", `${name} is gone again`);
      return made;
    }
    if (there.kind !== "bridge") {
      const kind = there.kind === "" ? "another kind" : `the kind ${there.kind}`;
      const message = `--bridge: ${name} is a link of ${kind} already; choose another name`;
      throw new CoreError("ERR_NOT_OURS", message);
    }
    if (!Buffer.from(there.mac).equals(macOf(name))) {
      const message = `--bridge: ${name} is a bridge of somebody else, whose addresses would go; choose another name`;
      throw new CoreError("ERR_NOT_OURS", message);
    }
    if (!there.isUp || there.mtu !== mtu) await this.#links.bringUp(there, mtu);
    return there;
  }

  async #ensureAddresses({ link }: ListedLink, { addresses, subnets }: NodePlan): Promise<void> {
    const has = (await this.#links.addresses()).filter((address) => address.link === link);
    for (const family of this.#families) {
      const wanted = { link, ip: addresses[family], prefixLength: subnets[family].prefix };
      const isWanted = (one: (typeof has)[number]): boolean =>
        one.ip === wanted.ip && one.prefixLength === wanted.prefixLength;
      const others = has.filter(({ ip }) => familyOf(ip) === family && !ip.startsWith("fe80:"));
      for (const other of others) if (!isWanted(other)) await this.#links.deleteAddress(other);
      if (!has.some(isWanted)) await this.#links.addAddress(wanted);
    }
  }
}
