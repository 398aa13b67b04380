import { FAMILIES } from "../../core/model/address.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import { removeRules } from "../../platform/linux/iptables/remove-rules.ts";
import type { RefusedChange } from "../../platform/linux/netlink/exchange-batches.ts";
import { joinFailures } from "../join-failures.ts";
import { isOwnedChain } from "../kube-chains.ts";
import { planGlueRemoval } from "./glue/glue-keeper.ts";
import { setsOf } from "./glue/set-names.ts";
import type { IpvsPlatform } from "./kernel/platform.ts";
import type { InsideMarks } from "./plan/inside-marks.ts";
import type { IpvsSettings } from "./settings.ts";

export interface Removal {
  readonly world: { readonly exec: Exec; isIptablesRunning(): boolean };
  readonly platform: IpvsPlatform;
  readonly settings: Pick<IpvsSettings, "isExcluded">;
  readonly marks: Pick<InsideMarks, "isOurs">;
}

/**
 * Removes the rules, the link with its addresses, the virtual servers and the sets; what is of others
 * stays, and so do settings of the kernel. Succeeds where nothing is left.
 */
export async function removeAll({ world, platform, settings, marks }: Removal): Promise<void> {
  const isShared = world.isIptablesRunning();
  await removeRules(world.exec, (actual) =>
    planGlueRemoval(actual, (chain) => isShared && isOwnedChain(chain)),
  );
  await platform.link.remove();
  const servers = (await platform.ipvs.servers()).filter(({ place }) =>
    "mark" in place ? marks.isOurs(place.mark) : !settings.isExcluded(place.ip),
  );
  const gone = await platform.ipvs.change(
    servers.map((server) => ({ kind: "deleteService", server })),
  );
  const sets = FAMILIES.flatMap((family) => Object.values(setsOf(family)));
  const destroyed = await platform.sets.change(sets.map((set) => ({ kind: "destroy", set })));
  const failures = [...gone, ...destroyed].filter((refused) => !isGone(refused));
  if (failures.length === 0) return;
  throw joinFailures(
    "ERR_SYSTEM_CALL",
    failures.map(({ error }) => error),
  );
}

export function isGone({ errno }: RefusedChange): boolean {
  return errno === ERRNO.ENOENT || errno === ERRNO.ESRCH;
}
