import type { FastObstacle } from "../platform/linux/fast-path/open-fast-plane.ts";
import type { FastMode } from "./fast-keeper.ts";

/** What would be there of it on this machine. */
export type FastProspect =
  | { readonly kind: "links"; readonly names: readonly string[] }
  | ({ readonly kind: "obstacle" } & FastObstacle);

export type ProbeFast = () => Promise<FastProspect>;

/** What a start would attach, in words; nothing is touched. */
export async function previewFast(mode: FastMode, probe: ProbeFast): Promise<readonly string[]> {
  if (mode === "off") return [];
  const prospect = await probe();
  if (prospect.kind === "obstacle") {
    const why = `${prospect.what}; ${prospect.remedy}`;
    return [mode === "on" ? `would not start: --fast-path on: ${why}` : `no fast path: ${why}`];
  }
  const { names } = prospect;
  const where = names.length === 0 ? "links that come" : names.join(", ");
  return [
    `would let packets of TCP connections that it translates pass without the rules: ${where}`,
  ];
}
