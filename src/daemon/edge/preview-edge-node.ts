import { AddressPlan } from "../../edge/addresses/address-plan.ts";
import { checkSubnets } from "../../edge/environment/check-subnets.ts";
import type { EdgeNetwork, NodePlan } from "../../edge/environment/edge-network.ts";
import { renderRules, rulesPlanOf } from "../../edge/environment/edge-rules.ts";
import { LinuxEdgeNetwork } from "../../edge/environment/linux-edge-network.ts";
import { keptSubnets } from "../../edge/environment/node-state.ts";
import type { Workload } from "../../edge/environment/workload.ts";
import { environmentOptions } from "./edge-node.ts";
import type { NamesSettings } from "./names/serve-names.ts";
import type { EdgeSettings } from "./resolve-settings.ts";
import { createStateFile } from "./state-file.ts";

type WorkloadFate = "stays connected" | "is connected again" | "is lost";

/** What a start would find and do. */
interface Preview {
  readonly plan: NodePlan;
  readonly workloads: readonly { readonly workload: Workload; readonly fate: WorkloadFate }[];
  readonly rules: string;
  readonly names: Pick<NamesSettings, "dns" | "mdns">;
}

/** Reads the state file and the kernel, and changes nothing. @throws CoreError ERR_USAGE */
export async function previewEdgeNode(settings: EdgeSettings): Promise<string> {
  const network = new LinuxEdgeNetwork();
  try {
    const preview = await look(settings, network);
    if (settings.values.json) return `${JSON.stringify(jsonOf(preview))}\n`;
    return preview === undefined
      ? "# nothing: an engine says by /register which network this node has\n"
      : textOf(preview);
  } finally {
    network.close();
  }
}

async function look(settings: EdgeSettings, network: EdgeNetwork): Promise<Preview | undefined> {
  const state = await createStateFile(settings.folder).load();
  const subnets = settings.subnets ?? keptSubnets(state?.node);
  if (subnets === undefined) return undefined;
  const options = environmentOptions(settings);
  await checkSubnets(subnets, options, network);
  const plan = {
    ...options,
    peerNetworks: [],
    subnets,
    addresses: new AddressPlan(subnets).bridge,
  };
  const attached = await network.attached(plan.bridge);
  const workloads = (state?.workloads ?? []).map((workload) => ({
    workload,
    fate: fateOf(workload, attached, network),
  }));
  const ports = workloads.flatMap(({ workload: { portMappings, addresses }, fate }) =>
    fate === "is lost" ? [] : portMappings.map((mapping) => ({ ...mapping, addresses })),
  );
  return { plan, workloads, rules: renderRules(rulesPlanOf(plan), ports), names: settings.names };
}

function fateOf(
  { hostLink, namespace }: Workload,
  attached: ReadonlySet<string>,
  network: EdgeNetwork,
): WorkloadFate {
  if (attached.has(hostLink)) return "stays connected";
  return network.isThere(namespace) ? "is connected again" : "is lost";
}

function textOf({ plan, workloads, rules, names }: Preview): string {
  const { bridge, mtu, addresses, subnets, serviceRanges } = plan;
  const lines = [
    `# bridge ${bridge}, MTU ${mtu}: ${addresses.v4}/${subnets.v4.prefix} ${addresses.v6}/${subnets.v6.prefix}`,
    `# service addresses ${serviceRanges.map(({ text }) => text).join(" ")}: by ${plan.tun}`,
    `# names: DNS on port 53 of the bridge ${names.dns ? "on" : "off"}, mDNS ${names.mdns ? "on" : "off"}`,
    ...workloads.map(({ workload, fate }) => `# ${workload.name} ${workload.addresses.v4} ${fate}`),
  ];
  return `${lines.join("\n")}\n${rules}`;
}

function jsonOf(preview: Preview | undefined): unknown {
  if (preview === undefined) return { bridge: null, workloads: [], nft: "" };
  const { plan, workloads, rules, names } = preview;
  return {
    names: { dns: names.dns, mdns: names.mdns },
    bridge: { name: plan.bridge, mtu: plan.mtu, addresses: Object.values(plan.addresses) },
    workloads: workloads.map(({ workload, fate }) => ({
      serviceName: workload.name,
      nsAddress: workload.addresses.v4,
      fate,
    })),
    nft: rules,
  };
}
