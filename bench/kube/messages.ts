import * as z from "zod";

/** What the server of a made-up cluster is told. */
export type ClusterOrder =
  /** Endpoints change, one after the other, so many a second. */
  | { readonly do: "change"; readonly count: number; readonly perSecond: number }
  /** A day of a cluster in short: most of what is told concerns nobody. */
  | { readonly do: "day"; readonly events: number; readonly changes: number };

export type ClusterReply =
  | { readonly is: "listening"; readonly url: string }
  | { readonly is: "done" };

export interface FollowerOrder {
  /** Begin to count anew, or tell what was counted. */
  readonly do: "mark" | "read";
}

export interface Costs {
  readonly cpuMs: number;
  readonly elapsedMs: number;
  readonly ops: number;
}

export type FollowerReply =
  | (Costs & { readonly is: "synced"; readonly peakMegabytes: number })
  | { readonly is: "marked" }
  | (Costs & { readonly is: "counted"; readonly latenciesMs: readonly number[] });

const costs = { cpuMs: z.number(), elapsedMs: z.number(), ops: z.number() };

export const clusterOrderSchema: z.ZodType<ClusterOrder> = z.discriminatedUnion("do", [
  z.object({ do: z.literal("change"), count: z.number(), perSecond: z.number() }),
  z.object({ do: z.literal("day"), events: z.number(), changes: z.number() }),
]);

export const clusterReplySchema: z.ZodType<ClusterReply> = z.discriminatedUnion("is", [
  z.object({ is: z.literal("listening"), url: z.string() }),
  z.object({ is: z.literal("done") }),
]);

export const followerOrderSchema: z.ZodType<FollowerOrder> = z.object({
  do: z.enum(["mark", "read"]),
});

export const followerReplySchema: z.ZodType<FollowerReply> = z.discriminatedUnion("is", [
  z.object({ is: z.literal("synced"), peakMegabytes: z.number(), ...costs }),
  z.object({ is: z.literal("marked") }),
  z.object({ is: z.literal("counted"), latenciesMs: z.array(z.number()), ...costs }),
]);

/** The name of a pod tells when the change that brought it was written. */
export const POD_PREFIX = "at-";

/** The same on both sides: they run on one machine. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
