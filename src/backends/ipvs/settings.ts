import { CoreError } from "../../core/errors.ts";
import { type Cidr, canonicalIp, cidrContains, parseCidr } from "../../core/model/address.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import { routePolicyOf } from "../../core/route/policy-options.ts";
import type { RoutePolicy } from "../../core/route/route-policy.ts";
import type { IpvsTimeouts } from "../../wire/netlink/ipvs/virtual-server.ts";
import type { IPVS_OPTIONS } from "./options.ts";
import type { Scheduler } from "./plan/balancing.ts";

export type IpvsValues = ValuesOf<typeof IPVS_OPTIONS>;

/** What an operator sets, checked. */
export interface IpvsSettings {
  readonly policy: RoutePolicy;
  readonly masqueradeBit: number;
  readonly workloadInterfaces: readonly string[];
  readonly scheduler: Scheduler;
  readonly isStrictArp: boolean;
  readonly timeouts: IpvsTimeouts;
  readonly checkPeriodMs: number;
  /** Whether an address is of somebody else. */
  isExcluded(ip: string): boolean;
}

/** More often, the kernel would be read all the time. */
const SHORTEST_CHECK_PERIOD_MS = 1000;
const MS_PER_SECOND = 1000;
/** Bits that marks of ours, or kubelet's, need. */
const MASQUERADE_BITS = { max: 28, notBit: 15 } as const;

/** @throws CoreError ERR_USAGE */
export function settingsOf(options: IpvsValues): IpvsSettings {
  const excluded = options.ipvsExcludeCidrs.map(parseExcluded);
  checkPeriod(options.ipvsSyncPeriod);
  checkMasqueradeBit(options.iptablesMasqueradeBit);
  return {
    policy: routePolicyOf(options),
    masqueradeBit: options.iptablesMasqueradeBit,
    workloadInterfaces: interfacesOf(options.podInterfaceNamePrefix),
    scheduler: options.ipvsScheduler,
    isStrictArp: options.ipvsStrictArp,
    timeouts: {
      tcp: secondsOf("--ipvs-tcp-timeout", options.ipvsTcpTimeout),
      tcpFin: secondsOf("--ipvs-tcpfin-timeout", options.ipvsTcpfinTimeout),
      udp: secondsOf("--ipvs-udp-timeout", options.ipvsUdpTimeout),
    },
    checkPeriodMs: options.ipvsSyncPeriod,
    isExcluded: (ip) => excluded.some((cidr) => cidrContains(cidr, ip)),
  };
}

function parseExcluded(text: string): Cidr {
  const bits = text.includes(":") ? 128 : 32;
  const cidr = parseCidr(canonicalIp(text) === undefined ? text : `${text}/${bits}`);
  if (cidr !== undefined) return cidr;
  throw new CoreError(
    "ERR_USAGE",
    `--ipvs-exclude-cidrs: "${text}" is not valid; expected a network such as 10.0.0.0/8 or an address`,
  );
}

function checkPeriod(periodMs: number): void {
  if (periodMs >= SHORTEST_CHECK_PERIOD_MS) return;
  throw new CoreError(
    "ERR_USAGE",
    `--ipvs-sync-period: "${periodMs}ms" is too short; expected 1s or more, such as 30s`,
  );
}

function checkMasqueradeBit(bit: number): void {
  if (bit <= MASQUERADE_BITS.max && bit !== MASQUERADE_BITS.notBit) return;
  throw new CoreError(
    "ERR_USAGE",
    `--iptables-masquerade-bit: ${bit} has another meaning with IPVS; expected 0 to ${MASQUERADE_BITS.max}, and not ${MASQUERADE_BITS.notBit}`,
  );
}

/** The kernel counts in seconds. */
function secondsOf(flag: string, ms: number): number {
  if (ms === 0 || ms >= MS_PER_SECOND) return Math.round(ms / MS_PER_SECOND);
  throw new CoreError("ERR_USAGE", `${flag}: "${ms}ms" is too short; expected 1s or more, or 0`);
}

/** `veth` matches as `veth+`. */
function interfacesOf(text: string): readonly string[] {
  const prefixes = text.split(",").map((part) => part.trim());
  return prefixes.filter((prefix) => prefix !== "").map((prefix) => `${prefix}+`);
}
