import { release } from "node:os";
import { CoreError } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { ERRNO } from "../../../platform/errno.ts";
import type { RefusedChange } from "../../../platform/linux/netlink/exchange-batches.ts";
import type { Sysctl } from "../../../platform/linux/sysctl.ts";
import type { IpvsTimeouts } from "../../../wire/netlink/ipvs/virtual-server.ts";
import { joinFailures } from "../../join-failures.ts";
import type { FamilySets } from "../glue/set-names.ts";
import type { IpvsSettings } from "../settings.ts";
import type { IpvsPlatform } from "./platform.ts";

/** A setting of the kernel, and why it is made. */
interface Setting {
  readonly name: string;
  readonly value: string;
  readonly why: string;
}

const SETTINGS: readonly Setting[] = [
  {
    name: "net.ipv4.vs.conntrack",
    value: "1",
    why: "so that rules can masquerade what IPVS sends",
  },
  {
    name: "net.ipv4.vs.expire_nodest_conn",
    value: "1",
    why: "so that flows to endpoints that are gone begin anew",
  },
  {
    name: "net.ipv4.vs.expire_quiescent_template",
    value: "1",
    why: "so that clients leave endpoints that take no new connections",
  },
];

/** Between these versions reused ports made new connections wait, or lost them. */
const REUSE: Setting = {
  name: "net.ipv4.vs.conn_reuse_mode",
  value: "0",
  why: "so that a reused port does not wait",
};
const REUSE_FROM = [4, 1] as const;
const REUSE_TO = [5, 8] as const;

const STRICT_ARP: readonly Setting[] = [
  { name: "net.ipv4.conf.all.arp_ignore", value: "1", why: "--ipvs-strict-arp" },
  { name: "net.ipv4.conf.all.arp_announce", value: "2", why: "--ipvs-strict-arp" },
];

/** What is set, in this order. */
function settingsFor(isStrictArp: boolean, kernel: string): readonly Setting[] {
  return [...SETTINGS, ...(needsReuse(kernel) ? [REUSE] : []), ...(isStrictArp ? STRICT_ARP : [])];
}

function needsReuse(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map((part) => Number.parseInt(part, 10));
  const isBefore = ([a, b]: readonly [number, number]) => major < a || (major === a && minor < b);
  const isAfter = ([a, b]: readonly [number, number]) => major > a || (major === a && minor > b);
  return !isBefore(REUSE_FROM) && !isAfter(REUSE_TO);
}

export interface Preparation {
  readonly platform: IpvsPlatform;
  readonly sysctl: Sysctl;
  readonly families: readonly FamilySets[];
  readonly settings: IpvsSettings;
  readonly log: Log;
  /** Version of the kernel; that of this machine when not given. */
  readonly kernel?: string;
}

/** Settings, the link and empty sets: what is there before any service. Each change is told. */
export async function prepareKernel(preparation: Preparation): Promise<void> {
  const { platform, sysctl, families, settings, log, kernel = release() } = preparation;
  for (const { name, value, why } of settingsFor(settings.isStrictArp, kernel)) {
    if (!(await sysctl.ensure(name, value))) continue;
    log.info({ backend: "ipvs" }, `${name} was set to ${value}, ${why}`);
  }
  await ensureTimeouts(platform.ipvs, settings.timeouts, log);
  await ensureHolders(platform, families);
}

/** Those that are 0 stay as they are. */
async function ensureTimeouts(
  ipvs: IpvsPlatform["ipvs"],
  timeouts: IpvsTimeouts,
  log: Log,
): Promise<void> {
  const { tcp, tcpFin, udp } = timeouts;
  if (tcp + tcpFin + udp === 0) return;
  const now = await ipvs.timeouts();
  const isSo = (wanted: number, is: number): boolean => wanted === 0 || wanted === is;
  if (isSo(tcp, now.tcp) && isSo(tcpFin, now.tcpFin) && isSo(udp, now.udp)) return;
  refuse(await ipvs.change([{ kind: "setConfig", timeouts }]));
  const words = `tcp ${tcp || now.tcp} s, tcpfin ${tcpFin || now.tcpFin} s, udp ${udp || now.udp} s`;
  log.info({ backend: "ipvs" }, `the time-outs of IPVS were set: ${words}`);
}

/**
 * The link and the sets, without what they hold.
 * @throws CoreError ERR_SYSTEM_CALL when all that could be made is
 */
export async function ensureHolders(
  platform: IpvsPlatform,
  families: readonly FamilySets[],
): Promise<void> {
  await platform.link.ensure();
  const sets = families.flatMap((names) => Object.values(names));
  const refused = await platform.sets.change(sets.map((set) => ({ kind: "create", set })));
  refuse(refused.map((one) => ({ error: withRemedy(one, sets[one.index]?.name ?? "") })));
}

/** The kernel takes what is there already as made, unless it is of another kind. */
function withRemedy({ errno, error }: RefusedChange, name: string): CoreError {
  if (errno !== ERRNO.EEXIST) return error;
  const what = `the set ${name} is there, but of another type: somebody else made it`;
  const remedy = `remove the rules that look into it, then: ipset destroy ${name}`;
  return new CoreError("ERR_SYSTEM_CALL", `${what}; ${remedy}`, { cause: error });
}

function refuse(refused: readonly { readonly error: unknown }[]): void {
  if (refused.length === 0) return;
  throw joinFailures(
    "ERR_SYSTEM_CALL",
    refused.map(({ error }) => error),
  );
}
