import type { Log } from "../../core/log.ts";
import { FAMILIES } from "../../core/model/address.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import { removeRules } from "../../platform/linux/iptables/remove-rules.ts";
import type { RefusedChange } from "../../platform/linux/netlink/exchange-batches.ts";
import type { IpSet } from "../../wire/netlink/ipset/ip-set.ts";
import { joinFailures } from "../join-failures.ts";
import { isOwnedChain } from "../kube-chains.ts";
import { planGlueRemoval } from "./glue/glue-keeper.ts";
import { setsOf } from "./glue/set-names.ts";
import { type IpvsPlatform, LINK_NAME } from "./kernel/platform.ts";
import { isGivenMark } from "./plan/inside-marks.ts";
import type { IpvsSettings } from "./settings.ts";

export interface Removal {
  readonly world: { readonly exec: Exec; isIptablesRunning(): boolean };
  readonly platform: IpvsPlatform;
  readonly settings: Pick<IpvsSettings, "isExcluded">;
  readonly log: Log;
}

/**
 * Removes the rules, the link with its addresses, the virtual servers and the sets; what is of others
 * stays, and so do settings of the kernel. Succeeds where nothing is left.
 */
export async function removeAll({ world, platform, settings, log }: Removal): Promise<void> {
  const isShared = world.isIptablesRunning();
  await removeRules(world.exec, (actual) =>
    planGlueRemoval(actual, (chain) => isShared && isOwnedChain(chain)),
  );
  const failures = [
    ...(await removeAddresses(platform.link, settings, log)),
    ...(await removeServers(platform, settings)),
    ...(await removeSets(platform.sets)),
  ].filter((refused) => !isGone(refused));
  if (failures.length === 0) return;
  throw joinFailures(
    "ERR_SYSTEM_CALL",
    failures.map(({ error }) => error),
  );
}

/** The link goes with them, unless somebody else's addresses are on it. */
async function removeAddresses(
  link: IpvsPlatform["link"],
  { isExcluded }: Removal["settings"],
  log: Log,
): Promise<readonly RefusedChange[]> {
  const found = await Promise.all(FAMILIES.map((family) => link.addresses(family)));
  const own = found.flatMap((one) => one.own);
  const kept = own.filter(isExcluded);
  if (kept.length === 0) {
    await link.remove();
    return [];
  }
  const words = `${LINK_NAME} stays: ${kept.join(", ")} on it is of --ipvs-exclude-cidrs`;
  log.warn({ backend: "ipvs" }, words);
  const going = own.filter((ip) => !isExcluded(ip));
  return link.change(going.map((ip) => ({ kind: "delete", ip })));
}

/** By address, all that are not excluded; by mark, those whose mark an entry of our sets gives to packets. */
async function removeServers(
  { ipvs, sets }: IpvsPlatform,
  { isExcluded }: Removal["settings"],
): Promise<readonly RefusedChange[]> {
  const given = new Set<number>();
  for (const family of FAMILIES) {
    const entries = (await sets.entries(setsOf(family).inside.name)) ?? [];
    for (const { mark } of entries) if (mark !== undefined) given.add(mark);
  }
  const servers = (await ipvs.servers()).filter(({ place }) =>
    "mark" in place ? isGivenMark(place.mark, given) : !isExcluded(place.ip),
  );
  return ipvs.change(servers.map((server) => ({ kind: "deleteService", server })));
}

/** A kernel without sets refuses to hear of them at all. */
async function removeSets(sets: IpvsPlatform["sets"]): Promise<readonly RefusedChange[]> {
  const there: IpSet[] = [];
  for (const set of FAMILIES.flatMap((family) => Object.values(setsOf(family)))) {
    if ((await sets.entries(set.name)) !== undefined) there.push(set);
  }
  return sets.change(there.map((set) => ({ kind: "destroy", set })));
}

export function isGone({ errno }: RefusedChange): boolean {
  return errno === ERRNO.ENOENT || errno === ERRNO.ESRCH;
}
