import type { FastObstacle } from "../platform/linux/fast-path/open-fast-plane.ts";
import type { OwnRules } from "../platform/linux/onlookers.ts";
import type { Sysctl } from "../platform/linux/sysctl.ts";
import type { FastMode } from "./fast-keeper.ts";
import { obstacleBy } from "./fast-occasion.ts";
import type { FastWorld } from "./fast-world.ts";
import { findAnyOnlooker } from "./find-any-onlooker.ts";

/** What would be there of it on this machine. */
export type FastProspect =
  | { readonly kind: "links"; readonly names: readonly string[] }
  | ({ readonly kind: "obstacle" } & FastObstacle);

export type ProbeFast = () => Promise<FastProspect>;

/** What is looked at. */
export interface FastPreviewWorld extends Pick<FastWorld, "findOnlooker"> {
  readonly probeFast: ProbeFast;
  readonly sysctl: Pick<Sysctl, "read">;
}

/** What a start would attach, in words; nothing is touched. */
export async function previewFast(
  mode: FastMode,
  own: OwnRules,
  { probeFast, findOnlooker, sysctl }: FastPreviewWorld,
): Promise<readonly string[]> {
  if (mode === "off") return [];
  const prospect = await probeFast();
  if (prospect.kind === "obstacle") {
    const why = `${prospect.what}; ${prospect.remedy}`;
    return [
      mode === "on" ? `would not start: --fast-path on: ${why}` : `would have no fast path: ${why}`,
    ];
  }
  const { names } = prospect;
  const where = names.length === 0 ? "links that come" : names.join(", ");
  const obstacle =
    mode === "on"
      ? undefined
      : await obstacleBy(() => findAnyOnlooker({ own, sysctl, findOnlooker }));
  if (obstacle !== undefined) return [`would have no fast path: ${obstacle}`];
  const when = mode === "on" ? "" : ", while much is forwarded";
  return [
    `would let packets of TCP connections that it translates pass without the rules${when}: ${where}`,
  ];
}
