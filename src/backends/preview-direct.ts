import { type Family, formatHostPort } from "../core/model/address.ts";
import type { ServiceEndpoints } from "../core/sinks/fullstate.ts";
import type { DirectObstacle } from "../platform/linux/direct-connect/open-direct-plane.ts";
import { directClaims } from "./direct-entries.ts";
import type { DirectMode } from "./direct-keeper.ts";
import { DirectPlan } from "./direct-plan.ts";

/** Undefined where connections can be direct. @param cgroup whose processes; undefined: all of them */
export type ProbeDirect = (cgroup: string | undefined) => Promise<DirectObstacle | undefined>;

export interface DirectPreview {
  readonly mode: DirectMode;
  readonly cgroup: string | undefined;
  readonly families: readonly Family[];
  readonly services: Iterable<readonly [string, ServiceEndpoints]>;
  readonly isRandom: (item: ServiceEndpoints) => boolean;
  readonly probe: ProbeDirect;
}

/** What the maps of a start would hold, in words; nothing is touched. */
export async function previewDirect(preview: DirectPreview): Promise<readonly string[]> {
  if (preview.mode === "off") return [];
  const obstacle = await preview.probe(preview.cgroup);
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
  return lines.length === 0 ? [] : ["would lead this node's own TCP connections:", ...lines];
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
