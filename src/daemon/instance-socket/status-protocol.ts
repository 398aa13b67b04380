import * as z from "zod";

/** What was counted since it is there; of a listener or a server. */
export interface TrafficStatus {
  /** Open at this moment. */
  readonly connections: number;
  readonly totalConnections: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly failures: number;
}

export interface ListenerStatus extends TrafficStatus {
  readonly key: string;
  readonly owner: string;
  readonly mode: string;
  /** As it is typed: `127.0.0.1:8080`, `unix:/run/web.sock`. */
  readonly address: string;
  readonly service: string;
  /** Why it is not open although it should be; missing where it is. */
  readonly problem?: string | undefined;
}

export interface ServerStatus extends TrafficStatus {
  /** Of the Endpoint. */
  readonly key: string;
  readonly name: string;
  readonly owner: string;
  readonly address: string;
  readonly weight: number;
  readonly health: "up" | "down" | "unknown" | "unused";
  /** Why it is not up; empty where it is. */
  readonly reason: string;
  /** Null where it was not called yet. */
  readonly meanLatencyMs: number | null;
}

export interface GroupStatus {
  readonly key: string;
  /** Empty where nobody described the group itself. */
  readonly owner: string;
  readonly method: string;
  readonly servers: readonly ServerStatus[];
}

export interface ControllerStatus {
  readonly type: string;
  readonly name: string;
  readonly address: string;
  readonly hasSecret: boolean;
  readonly connections: number;
  /** Why it does not listen; missing where it does. */
  readonly problem?: string | undefined;
}

export interface InstanceStatus {
  readonly version: string;
  readonly pid: number;
  readonly node: string;
  /** Everything is well; otherwise why not. */
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly components: readonly {
    readonly kind: string;
    readonly name: string;
    readonly health: string;
    readonly message: string;
    readonly notHonoured: readonly string[];
    /** How many of `notHonoured`, from the first on, hold for this machine whatever the state is. */
    readonly always?: number | undefined;
    /** How it goes, in numbers; missing where it does not say. */
    readonly details?: string | undefined;
  }[];
  /** Of the backends that have event loops. */
  readonly loopGroups: readonly {
    readonly backend: string;
    readonly name: string;
    readonly loops: readonly {
      readonly name: string;
      /** How many are open of each kind. */
      readonly channels: Readonly<Record<string, number>>;
      /** CPU time so far; missing where the system does not say. */
      readonly cpuSeconds?: number | undefined;
    }[];
  }[];
  readonly uptimeSeconds: number;
  /** Of the state; 0 where there is none in this process. */
  readonly revision: number;
  readonly process: {
    /** Spent so far, by all threads. */
    readonly cpuSeconds: number;
    readonly memoryBytes: number;
  };
  /** Those of the state that are for this node. */
  readonly listeners: readonly ListenerStatus[];
  readonly groups: readonly GroupStatus[];
  /** How many more there are. */
  readonly groupsLeftOut: number;
  readonly controllers: readonly ControllerStatus[];
  /** Null where nothing is kept. */
  readonly journal: { readonly path: string; readonly bytes: number } | null;
}

const traffic = {
  connections: z.number(),
  totalConnections: z.number(),
  bytesIn: z.number(),
  bytesOut: z.number(),
  failures: z.number(),
};

const server = z.object({
  key: z.string(),
  name: z.string(),
  owner: z.string(),
  address: z.string(),
  weight: z.number(),
  health: z.enum(["up", "down", "unknown", "unused"]),
  reason: z.string(),
  meanLatencyMs: z.number().nullable(),
  ...traffic,
});

/** What came later has a standard: an instance of an older version does not say it. */
export const statusSchema: z.ZodType<InstanceStatus> = z.object({
  version: z.string(),
  pid: z.int(),
  node: z.string(),
  ready: z.boolean(),
  reasons: z.array(z.string()),
  components: z.array(
    z.object({
      kind: z.string(),
      name: z.string(),
      health: z.string(),
      message: z.string(),
      notHonoured: z.array(z.string()),
      always: z.int().optional(),
      details: z.string().optional(),
    }),
  ),
  loopGroups: z.array(
    z.object({
      backend: z.string(),
      name: z.string(),
      loops: z.array(
        z.object({
          name: z.string(),
          channels: z.record(z.string(), z.number()),
          cpuSeconds: z.number().optional(),
        }),
      ),
    }),
  ),
  uptimeSeconds: z.number().default(0),
  revision: z.number().default(0),
  process: z
    .object({ cpuSeconds: z.number(), memoryBytes: z.number() })
    .default({ cpuSeconds: 0, memoryBytes: 0 }),
  listeners: z
    .array(
      z.object({
        key: z.string(),
        owner: z.string(),
        mode: z.string(),
        address: z.string(),
        service: z.string(),
        problem: z.string().optional(),
        ...traffic,
      }),
    )
    .default([]),
  groups: z
    .array(
      z.object({
        key: z.string(),
        owner: z.string(),
        method: z.string(),
        servers: z.array(server),
      }),
    )
    .default([]),
  groupsLeftOut: z.number().default(0),
  controllers: z
    .array(
      z.object({
        type: z.string(),
        name: z.string(),
        address: z.string(),
        hasSecret: z.boolean(),
        connections: z.number(),
        problem: z.string().optional(),
      }),
    )
    .default([]),
  journal: z.object({ path: z.string(), bytes: z.number() }).nullable().default(null),
});
