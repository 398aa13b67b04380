import { writeFileSync } from "node:fs";
import { CoreError } from "../../core/errors.ts";
import { type Family, parseCidr } from "../../core/model/address.ts";
import { LinkTable } from "../../platform/linux/links/link-table.ts";
import { NetworkNamespace } from "../../platform/linux/network-namespace.ts";
import type { ListedLink } from "../../wire/netlink/route/pair-codec.ts";
import type { AttachPlan, NodePlan } from "./edge-network.ts";
import type { FoundNamespace } from "./workload.ts";

const DEFAULT_ROUTE = { v4: "0.0.0.0/0", v6: "::/0" } as const;
/** A loopback link needs no other. */
const LOOPBACK_MTU = 65_536;

export interface Attachment {
  /** Of the machine. */
  readonly links: LinkTable;
  /** Number of the bridge. */
  readonly bridge: number;
  readonly plan: NodePlan;
  readonly workload: AttachPlan;
  readonly families: readonly Family[];
}

/**
 * Connects a namespace with the bridge: all of it, or nothing is left.
 * @returns the name of its link in the namespace
 * @throws CoreError ERR_NOT_FOUND where the namespace is gone, ERR_SYSTEM_CALL
 */
export async function attachWorkload(attachment: Attachment): Promise<string> {
  const { links, bridge, plan, workload } = attachment;
  const { hostLink } = workload;
  const namespace = openNamespace(workload.namespace);
  const inside = namespace.run(() => new LinkTable());
  try {
    // First, so that its other end has the same name as before.
    await links.remove(hostLink);
    const name = freeName(await inside.list());
    const peer = { name, namespace: namespace.descriptor };
    await links.makePair({ name: hostLink, mtu: plan.mtu, master: bridge, peer });
    try {
      // Where bridges pass packets to the rules, a workload that calls its own published port needs it.
      await links.allowHairpin(hostLink);
      await configure(inside, namespace, name, attachment);
    } catch (error) {
      await links.remove(hostLink);
      throw error;
    }
    return name;
  } finally {
    inside.close();
    namespace.close();
  }
}

/** Whether it is still the one that was found. */
export function isSameNamespace({ path, id }: FoundNamespace): boolean {
  try {
    const namespace = NetworkNamespace.open(path);
    try {
      return namespace.id === id;
    } finally {
      namespace.close();
    }
  } catch {
    return false;
  }
}

async function configure(
  inside: LinkTable,
  namespace: NetworkNamespace,
  name: string,
  { plan, workload, families }: Attachment,
): Promise<void> {
  if (families.includes("v6")) namespace.run(() => allowV6(name));
  const found = await inside.list();
  const loopback = found.find((link) => link.name === "lo");
  if (loopback?.isUp === false) await inside.bringUp(loopback, LOOPBACK_MTU);
  const own = found.find((link) => link.name === name);
  if (own === undefined) throw gone(workload.namespace);
  await inside.bringUp(own, plan.mtu);
  const { link } = own;
  for (const family of families) {
    const { prefix } = plan.subnets[family];
    await inside.addAddress({ link, ip: workload.addresses[family], prefixLength: prefix });
    const next = { kind: "router", ip: plan.addresses[family], link } as const;
    for (const to of plan.serviceRanges.filter((range) => range.family === family)) {
      await inside.changeRoute("replace", { to, next });
    }
    const everything = parseCidr(DEFAULT_ROUTE[family]);
    // A workload that has a way out already keeps it.
    if (everything !== undefined) await inside.changeRoute("add", { to: everything, next });
  }
}

/** Engines turn IPv6 off for what they start; here it is wanted, without waiting for anybody. */
function allowV6(link: string): void {
  for (const [setting, value] of [
    ["disable_ipv6", "0"],
    ["accept_dad", "0"],
    ["accept_ra", "0"],
  ] as const) {
    writeFileSync(`/proc/sys/net/ipv6/conf/${link}/${setting}`, value);
  }
}

/** The first of `eth0`, `eth1`, ... that the namespace does not have. */
function freeName(links: readonly ListedLink[]): string {
  const names = new Set(links.map(({ name }) => name));
  for (let number = 0; ; number++) if (!names.has(`eth${number}`)) return `eth${number}`;
}

function openNamespace(found: FoundNamespace): NetworkNamespace {
  if (!isSameNamespace(found)) throw gone(found);
  return NetworkNamespace.open(found.path);
}

function gone({ path }: FoundNamespace): CoreError {
  return new CoreError("ERR_NOT_FOUND", `the network namespace ${path} is gone`);
}
