import { type Family, familyOf } from "../../core/model/address.ts";
import { EdgeRuleWriter } from "../../edge/environment/edge-rule-writer.ts";
import { type RulesPlan, renderRemoval, renderRules } from "../../edge/environment/edge-rules.ts";
import { enableForwarding } from "../../edge/environment/enable-forwarding.ts";
import { machineFamilies } from "../../edge/environment/machine-families.ts";
import { TunnelRoutes } from "../../edge/environment/tunnel-routes.ts";
import { LinkTable } from "../../platform/linux/links/link-table.ts";
import { watchLinks } from "../../platform/linux/links/route-watch.ts";
import { systemSysctl } from "../../platform/linux/sysctl.ts";
import type { EdgePlan } from "./plan-edge.ts";
import type { EdgeSettings } from "./settings.ts";

/** The device of the tunnel, of edge nodes as well: a machine has one tunnel. */
export const TUN = "portolan-tun";

const HOST_PREFIX = { v4: 32, v6: 128 } as const;

/** What leads packets into the tunnel, in the network namespace that this thread is in. */
export class EdgeKernel {
  readonly #settings: EdgeSettings;
  readonly families: readonly Family[] = machineFamilies();
  readonly #links = new LinkTable();
  readonly #rules = new EdgeRuleWriter();
  readonly #routes = new TunnelRoutes(this.#links, this.families);

  constructor(settings: EdgeSettings) {
    this.#settings = settings;
  }

  /** Before the way through the tunnel is there: what may pass, and as whom. @returns whether it changed */
  async writeRules(plan: EdgePlan): Promise<boolean> {
    await enableForwarding(systemSysctl, this.families);
    return this.#rules.write(rulesText(plan, this.#settings, this.families));
  }

  /** Once the tunnel's device is there. */
  async ensureWays(plan: EdgePlan): Promise<void> {
    await this.#ensureAddresses(plan);
    const { serviceRanges, mtu } = this.#settings;
    await this.#routes.ensure({ ...plan, tun: TUN, mtu, serviceRanges });
  }

  async remove(): Promise<void> {
    await this.#links.remove(TUN);
    await this.#routes.remove(this.#settings.serviceRanges);
    await this.#rules.remove(renderRemoval(this.families));
  }

  watch(onChange: () => void): { close(): void } {
    return watchLinks(onChange);
  }

  close(): void {
    this.#links.close();
    this.#rules.close();
  }

  /** Unless another link has it: a bridge of workloads, say. */
  async #ensureAddresses({ addresses }: EdgePlan): Promise<void> {
    const there = new Set((await this.#links.addresses()).map(({ ip }) => ip));
    const wanted = Object.values(addresses).filter((ip) => !there.has(ip));
    const tun = wanted.length === 0 ? undefined : await this.#links.find(TUN);
    if (tun === undefined) return;
    for (const ip of wanted) {
      if (!this.families.includes(familyOf(ip))) continue;
      const prefixLength = HOST_PREFIX[familyOf(ip)];
      await this.#links.addAddress({ link: tun.link, ip, prefixLength });
    }
  }
}

/** The transaction of nft for a plan. */
export function rulesText(
  plan: EdgePlan,
  { serviceRanges }: EdgeSettings,
  families: readonly Family[],
): string {
  const { networks, addresses, peerNetworks, ingress } = plan;
  const rules: RulesPlan = {
    bridge: undefined,
    tun: TUN,
    networks,
    addresses,
    serviceRanges,
    peerNetworks,
    ingress,
  };
  return renderRules(rules, [], families);
}
