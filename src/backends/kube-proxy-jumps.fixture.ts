import { type ChainId, nameOf, tableOf } from "../platform/linux/iptables/chain-id.ts";
import { targetOf } from "../platform/linux/iptables/target-of.ts";

const NEW = "-m conntrack --ctstate NEW ";

function said(comment: string, target: string): string {
  return `-m comment --comment "${comment}" -j ${target}`;
}

const portals = said("kubernetes service portals", "KUBE-SERVICES");
const external = said("kubernetes externally-visible service portals", "KUBE-EXTERNAL-SERVICES");
const firewall = said("kubernetes load balancer firewall", "KUBE-PROXY-FIREWALL");
const ipvsFirewall = said("kube-proxy firewall rules", "KUBE-PROXY-FIREWALL");
const ipvsFilter = "kubernetes ipvs access filter";

/** What kube-proxy puts at hooks, in its modes iptables and IPVS, since 1.8; as `iptables-save` prints it. */
export const KUBE_PROXY_JUMPS: readonly (readonly [ChainId, string])[] = [
  ["nat PREROUTING", portals],
  ["nat OUTPUT", portals],
  ["nat POSTROUTING", said("kubernetes postrouting rules", "KUBE-POSTROUTING")],
  ["filter INPUT", NEW + external],
  ["filter INPUT", external],
  ["filter INPUT", NEW + portals],
  ["filter INPUT", said("kubernetes health check service ports", "KUBE-NODEPORTS")],
  ["filter INPUT", NEW + firewall],
  ["filter FORWARD", NEW + external],
  ["filter FORWARD", NEW + portals],
  ["filter FORWARD", said("kubernetes forwarding rules", "KUBE-FORWARD")],
  ["filter FORWARD", NEW + firewall],
  ["filter OUTPUT", NEW + portals],
  ["filter OUTPUT", portals],
  ["filter OUTPUT", NEW + firewall],
  ["filter INPUT", said("kubernetes health check rules", "KUBE-NODE-PORT")],
  ["filter INPUT", ipvsFirewall],
  ["filter FORWARD", ipvsFirewall],
  ["filter INPUT", said(ipvsFilter, "KUBE-IPVS-FILTER")],
  ["filter INPUT", NEW + said(ipvsFilter, "KUBE-IPVS-FILTER")],
  ["filter OUTPUT", said(ipvsFilter, "KUBE-IPVS-OUT-FILTER")],
];

/** One of them with the chain that it leads to, as `iptables-restore` takes it. */
export function restorableJump([hook, rule]: readonly [ChainId, string]): string {
  const target = nameOf(targetOf(hook, rule) ?? hook);
  return `*${tableOf(hook)}\n:${target} - [0:0]\n-A ${nameOf(hook)} ${rule}\nCOMMIT\n`;
}
