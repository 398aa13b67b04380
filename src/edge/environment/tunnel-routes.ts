import type { Cidr, Family } from "../../core/model/address.ts";
import type { LinkTable } from "../../platform/linux/links/link-table.ts";
import type { NodePlan } from "./edge-network.ts";

/** Behind every other route: where there is no tunnel, service addresses lead nowhere, and not out. */
const LAST_METRIC = 0xffff_0000;

/** What leads into the tunnel. */
export interface TunnelRoutesPlan
  extends Pick<NodePlan, "tun" | "mtu" | "serviceRanges" | "peerNetworks"> {
  /** By which this machine itself speaks there. */
  readonly addresses: Partial<Readonly<Record<Family, string>>>;
}

/** Routes to services and to the workloads of other nodes, by the device of the tunnel. */
export class TunnelRoutes {
  readonly #links: LinkTable;
  readonly #families: readonly Family[];
  /** As this process set them. */
  #set: { readonly link: number; readonly to: ReadonlyMap<string, Cidr> } = {
    link: 0,
    to: new Map(),
  };

  constructor(links: LinkTable, families: readonly Family[]) {
    this.#links = links;
    this.#families = families;
  }

  async ensure(plan: TunnelRoutesPlan): Promise<void> {
    const tun = await this.#links.find(plan.tun);
    if (tun !== undefined && (!tun.isUp || tun.mtu !== plan.mtu)) {
      await this.#links.bringUp(tun, plan.mtu);
    }
    for (const to of this.#usable(plan.serviceRanges)) {
      const nowhere = { to, next: { kind: "unreachable" }, metric: LAST_METRIC } as const;
      await this.#links.changeRoute("add", nowhere);
    }
    if (tun !== undefined) await this.#ensureThrough(plan, tun.link);
  }

  /** Those that are left without a tunnel. */
  async remove(serviceRanges: readonly Cidr[]): Promise<void> {
    for (const to of this.#usable(serviceRanges)) {
      const route = { to, next: { kind: "unreachable" }, metric: LAST_METRIC } as const;
      await this.#links.changeRoute("delete", route);
    }
  }

  /** Routes go with their link: one that was made anew has none. */
  async #ensureThrough(plan: TunnelRoutesPlan, link: number): Promise<void> {
    const next = { kind: "link", link } as const;
    const wanted = new Map(
      this.#usable([...plan.serviceRanges, ...plan.peerNetworks]).map((to) => [to.text, to]),
    );
    if (this.#set.link === link) {
      for (const [text, to] of this.#set.to) {
        if (!wanted.has(text)) await this.#links.changeRoute("delete", { to, next });
      }
    }
    for (const to of wanted.values()) {
      const source = plan.addresses[to.family];
      await this.#links.changeRoute("replace", {
        to,
        next,
        ...(source !== undefined && { source }),
      });
    }
    this.#set = { link, to: wanted };
  }

  #usable(networks: readonly Cidr[]): readonly Cidr[] {
    return networks.filter(({ family }) => this.#families.includes(family));
  }
}
