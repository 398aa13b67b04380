import { createHash } from "node:crypto";
import type { Family } from "../../src/core/model/address.ts";
import type { ServicePort } from "../../src/core/model/service.ts";
import type { NodeEndpoint, NodeService, Op } from "../../src/core/view/ops.ts";

const TABLE = "ip kube-proxy";
const FAMILY: Family = "v4";
const HASH_LENGTH = 8;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** `service`: as kube-proxy does it now; `endpoint`: every endpoint has a chain too, as it was before. */
export type ChainsPer = "service" | "endpoint";

interface Target {
  readonly ip: string;
  readonly port: number;
}

/**
 * A node's services in the layout of kube-proxy's nftables mode (IPv4): a verdict map to a chain for
 * each service port, which chooses among its endpoints. A script for `nft -f`.
 */
export function kubeProxyLayout(ops: readonly Op[], chainsPer: ChainsPer): string {
  const { services, endpoints } = collect(ops);
  const lines = [...BASE];
  const elements: string[] = [];
  for (const item of services) {
    const { namespace, name, clusterIPs } = item.service;
    for (const port of item.service.ports) {
      const targets = targetsOf(port, endpoints.get(item.key) ?? []);
      if (targets.length === 0) continue;
      const path = `${namespace}/${name}/${port.protocol.toLowerCase()}/${port.name}`;
      const chain = `service-${hashOf(path)}-${path}`;
      lines.push(...chainsOf(item, { chain, path, targets, chainsPer }));
      for (const ip of clusterIPs.filter((one) => !one.includes(":"))) {
        elements.push(`${ip} . ${port.protocol.toLowerCase()} . ${port.port} : goto ${chain}`);
      }
    }
  }
  for (const element of elements) lines.push(`add element ${TABLE} service-ips { ${element} }`);
  return `${lines.join("\n")}\n`;
}

const BASE: readonly string[] = [
  `add table ${TABLE}`,
  `add map ${TABLE} service-ips { type ipv4_addr . inet_proto . inet_service : verdict ; }`,
  `add chain ${TABLE} services`,
  `add rule ${TABLE} services ip daddr . meta l4proto . th dport vmap @service-ips`,
  `add chain ${TABLE} nat-prerouting { type nat hook prerouting priority -100 ; }`,
  `add rule ${TABLE} nat-prerouting jump services`,
  `add chain ${TABLE} nat-output { type nat hook output priority -100 ; }`,
  `add rule ${TABLE} nat-output jump services`,
];

interface ServiceChain {
  readonly chain: string;
  readonly path: string;
  readonly targets: readonly Target[];
  readonly chainsPer: ChainsPer;
}

function chainsOf({ service }: NodeService, { chain, path, targets, chainsPer }: ServiceChain) {
  const lines = [`add chain ${TABLE} ${chain}`];
  if (service.affinitySeconds === 0 && chainsPer === "service") {
    const map = targets.map(({ ip, port }, index) => `${index} : ${ip} . ${port}`).join(", ");
    lines.push(
      `add rule ${TABLE} ${chain} meta l4proto { tcp, udp, sctp } dnat ip addr . port to numgen random mod ${targets.length} map { ${map} }`,
    );
    return lines;
  }
  const names = targets.map(({ ip, port }) => {
    const own = `${path}__${ip}/${port}`;
    return { own: `${hashOf(own)}-${own}`, ip, port };
  });
  for (const { own, ip, port } of names) {
    lines.push(`add chain ${TABLE} endpoint-${own}`);
    if (service.affinitySeconds > 0) {
      lines.push(
        `add set ${TABLE} affinity-${own} { type ipv4_addr ; flags dynamic,timeout ; timeout ${service.affinitySeconds}s ; }`,
        `add rule ${TABLE} endpoint-${own} update @affinity-${own} { ip saddr }`,
        `add rule ${TABLE} ${chain} ip saddr @affinity-${own} goto endpoint-${own}`,
      );
    }
    lines.push(
      `add rule ${TABLE} endpoint-${own} meta l4proto { tcp, udp, sctp } dnat to ${ip}:${port}`,
    );
  }
  const verdicts = names.map(({ own }, index) => `${index} : goto endpoint-${own}`).join(", ");
  lines.push(`add rule ${TABLE} ${chain} numgen random mod ${names.length} vmap { ${verdicts} }`);
  return lines;
}

function collect(ops: readonly Op[]) {
  const services: NodeService[] = [];
  const endpoints = new Map<string, NodeEndpoint[]>();
  for (const op of ops) {
    if (op.op !== "set") continue;
    if (op.set === "services") services.push(op.value);
    if (op.set !== "endpoints") continue;
    const list = endpoints.get(op.value.service) ?? [];
    list.push(op.value);
    endpoints.set(op.value.service, list);
  }
  return { services, endpoints };
}

function targetsOf(port: ServicePort, endpoints: readonly NodeEndpoint[]): readonly Target[] {
  return endpoints.flatMap(({ endpoint, ports }) => {
    const used = ports.find((one) => one.name === port.name && one.clusterFor.includes(FAMILY));
    const ip = endpoint.addresses.find((one) => !one.includes(":"));
    return used === undefined || ip === undefined ? [] : [{ ip, port: used.target }];
  });
}

/** As kube-proxy makes it: the first characters of the base-32 text of a SHA-256. */
function hashOf(text: string): string {
  const digest = createHash("sha256").update(text).digest();
  let bits = "";
  for (const byte of digest) bits += byte.toString(2).padStart(8, "0");
  return Array.from({ length: HASH_LENGTH }, (_, index) =>
    BASE32.charAt(Number.parseInt(bits.slice(index * 5, index * 5 + 5), 2)),
  ).join("");
}
