/**
 * # The instance socket
 *
 * A running instance listens on `instance.sock` in its state folder, for its own user only. It speaks
 * HTTP: `POST /v1/<request>` with the parameters as JSON; the answer is the result as JSON, or with
 * another status than 200 `{ "code", "message" }`. A request is added here, in `InstanceRequests` and
 * in `INSTANCE_REQUESTS`, and by its handler; what is there is not changed within a version.
 */
import * as z from "zod";

export const INSTANCE_VERSION = 1;
export const SOCKET_NAME = "instance.sock";

/** What there is to ask, and what is answered. */
export interface InstanceRequests {
  readonly status: { readonly params: NoParams; readonly result: InstanceStatus };
  readonly profile: { readonly params: ProfileParams; readonly result: ProfileResult };
  readonly "take-over": { readonly params: NoParams; readonly result: TakeOverResult };
}

export type RequestName = keyof InstanceRequests;

export type NoParams = Readonly<Record<string, never>>;

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
  }[];
  /** Of the backends that have event loops. */
  readonly loopGroups: readonly {
    readonly backend: string;
    readonly name: string;
    readonly loops: readonly {
      readonly name: string;
      /** How many are open of each kind. */
      readonly channels: Readonly<Record<string, number>>;
    }[];
  }[];
}

export interface ProfileParams {
  readonly loop: string;
  readonly seconds: number;
}

export interface ProfileResult {
  /** As `.cpuprofile` holds it. */
  readonly profile: string;
}

export interface TakeOverResult {
  readonly pid: number;
  /** Where the listening sockets are handed out, once. */
  readonly path: string;
}

export interface RequestSpec<N extends RequestName> {
  /** One sentence without a full stop, for docs. */
  readonly help: string;
  readonly params: z.ZodType<InstanceRequests[N]["params"]>;
  readonly result: z.ZodType<InstanceRequests[N]["result"]>;
}

/** An hour is more than anybody reads. */
const MAX_PROFILE_SECONDS = 3600;

const noParams: z.ZodType<NoParams> = z.strictObject({});

const statusSchema: z.ZodType<InstanceStatus> = z.object({
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
    }),
  ),
  loopGroups: z.array(
    z.object({
      backend: z.string(),
      name: z.string(),
      loops: z.array(z.object({ name: z.string(), channels: z.record(z.string(), z.number()) })),
    }),
  ),
});

export const INSTANCE_REQUESTS: { readonly [N in RequestName]: RequestSpec<N> } = {
  status: {
    help: "who runs here, how it is, and its event loops",
    params: noParams,
    result: statusSchema,
  },
  profile: {
    help: "takes a CPU profile of an event loop",
    params: z.strictObject({
      loop: z.string().min(1),
      seconds: z.number().positive().max(MAX_PROFILE_SECONDS),
    }),
    result: z.object({ profile: z.string() }),
  },
  "take-over": {
    help: "offers all listening sockets to the process that takes this one's place",
    params: noParams,
    result: z.object({ pid: z.int(), path: z.string() }),
  },
};

export function isRequestName(name: string): name is RequestName {
  return Object.hasOwn(INSTANCE_REQUESTS, name);
}

/** What a refusal says. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

export const refusalSchema: z.ZodType<Refusal> = z.object({
  code: z.string(),
  message: z.string(),
});
