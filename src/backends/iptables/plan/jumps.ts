import { type ChainId, nameOf } from "../../../platform/linux/iptables/chain-id.ts";
import { type Jumps, jump } from "../../../platform/linux/iptables/compare-jumps.ts";
import { renderRule } from "../../../platform/linux/iptables/rule.ts";
import {
  CALLS_IN,
  CALLS_OUT,
  FIREWALL,
  FORWARD,
  HEALTH_PORTS,
  POSTROUTING,
  REFUSED_EXTERNAL,
  REFUSED_SERVICES,
  SERVICES,
} from "../../kube-chains.ts";

const NEW = ["-m conntrack --ctstate NEW"];
/** Not what comes back to this node's own connections. */
const CALLING = ["-m conntrack --ctdir ORIGINAL"];

export const FIREWALL_JUMP: string = jump(FIREWALL, "kubernetes load balancer firewall", NEW);
const services = jump(REFUSED_SERVICES, "kubernetes service portals", NEW);
const external = jump(REFUSED_EXTERNAL, "kubernetes externally-visible service portals", NEW);
const portals = jump(SERVICES, "kubernetes service portals");
/** Every packet that is forwarded meets it, and a comment would be one more question. */
const forward = renderRule({ target: nameOf(FORWARD) });

/**
 * Where packets come into our chains, in this order. Unlike kube-proxy's, one question at each hook
 * of this node tells packets of connections that stand from others.
 */
export const JUMPS: Jumps = new Map<ChainId, readonly string[]>([
  ["filter INPUT", [jump(CALLS_IN, "kubernetes calls of this node", CALLING)]],
  ["filter FORWARD", [forward, services, external]],
  ["filter OUTPUT", [jump(CALLS_OUT, "kubernetes calls by this node", NEW)]],
  ["nat PREROUTING", [portals]],
  ["nat OUTPUT", [portals]],
  ["nat POSTROUTING", [jump(POSTROUTING, "kubernetes postrouting rules")]],
]);

/** Where those of this node's own hooks lead on to. */
export const LED_ON: Jumps = new Map<ChainId, readonly string[]>([
  [
    CALLS_IN,
    [FIREWALL_JUMP, jump(HEALTH_PORTS, "kubernetes health check service ports"), external],
  ],
  // Unlike kube-proxy's: this node's own calls of an external address are refused, too.
  [CALLS_OUT, [FIREWALL_JUMP, services, external]],
]);
