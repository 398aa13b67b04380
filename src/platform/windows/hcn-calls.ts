/** What HCN keeps. */
export type HcnKind = "Network" | "Endpoint" | "LoadBalancer";

/** What Portolan makes; networks are only read. */
export type OwnKind = Exclude<HcnKind, "Network">;

/** Something that the service says by itself. */
export interface HcnNotice {
  readonly what: "network-created" | "network-deleted" | "endpoint-attached" | "service-gone";
}

/**
 * The calls of the Host Compute Network service, as they are: ids and JSON text. All reject with an
 * error that `failureOf` reads. Two things implement it: `computenetwork.dll` and a fake in memory.
 */
export interface HcnCalls {
  /** The version of HNS: `{"Major":15,"Minor":5}`. */
  version(): Promise<string>;
  /** A JSON array with the ids of all that suit the query. */
  enumerate(kind: HcnKind, query: string): Promise<string>;
  query(kind: HcnKind, id: string, query: string): Promise<string>;
  /** @param networkId of endpoints only */
  create(kind: OwnKind, id: string, settings: string, networkId?: string): Promise<void>;
  modify(kind: "LoadBalancer", id: string, settings: string): Promise<void>;
  delete(kind: OwnKind, id: string): Promise<void>;
  /** @returns what ends it; no notice comes after that is over */
  watch(onNotice: (notice: HcnNotice) => void): Promise<() => Promise<void>>;
  /** Ends all that is watched, and lets go of all handles. */
  close(): Promise<void>;
}
