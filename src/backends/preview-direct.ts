import { type Family, formatHostPort } from "../core/model/address.ts";
import type { ServiceEndpoints } from "../core/sinks/fullstate.ts";
import type { DirectCgroups } from "../platform/linux/direct-connect/direct-plane.ts";
import type { DirectObstacle } from "../platform/linux/direct-connect/open-direct-plane.ts";
import { directClaims } from "./direct-entries.ts";
import { DirectPlan } from "./direct-plan.ts";
import type { DirectSetting } from "./direct-setting.ts";

/** Undefined where connections can be direct. @param cgroups whose processes */
export type ProbeDirect = (cgroups: DirectCgroups) => Promise<DirectObstacle | undefined>;

export interface DirectPreview extends DirectSetting {
  readonly families: readonly Family[];
  readonly services: Iterable<readonly [string, ServiceEndpoints]>;
  readonly isRandom: (item: ServiceEndpoints) => boolean;
  readonly probe: ProbeDirect;
}

/** What the maps of a start would hold, in words; nothing is touched. */
export async function previewDirect(preview: DirectPreview): Promise<readonly string[]> {
  const { cgroups } = preview;
  if (preview.mode === "off") return [];
  const obstacle = await preview.probe(cgroups);
  if (obstacle !== undefined) {
    return [`no direct connections: ${obstacle.what}; ${obstacle.remedy}`];
  }
  const plan = new DirectPlan();
  for (const [key, item] of preview.services) {
    plan.replace(key, directClaims(item, preview.isRandom(item), preview.families));
  }
  const lines = plan.entries().map(({ place, targets }) => {
    const shares = targets.map(
      ({ ip, port, share }) => `${formatHostPort(ip, port)} (${percent(share)})`,
    );
    return `  ${formatHostPort(place.ip, place.port)} to ${shares.join(", ")}`;
  });
  if (lines.length === 0) return [];
  const workloads =
    cgroups.workloads === undefined ? "" : `, and of workloads in ${cgroups.workloads}`;
  return [`would lead this node's own TCP connections${workloads}:`, ...lines];
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
