/**
 * # The instance socket
 *
 * A running instance listens on `instance.sock` in its state folder, for its own user only. It speaks
 * HTTP: `POST /v1/<request>` with the parameters as JSON; the answer is the result as JSON, or with
 * another status than 200 `{ "code", "message", "problems" }`. Of a stream the answer is a line of JSON
 * for each item, for as long as both want it. A request is added here, in `InstanceRequests` and in
 * `INSTANCE_REQUESTS` (a stream in `InstanceStreams` and `INSTANCE_STREAMS`), and by its handler; what
 * is there is not changed within a version.
 */
import * as z from "zod";
import type { Problem } from "../../core/model/problems.ts";
import * as command from "./command-protocol.ts";
import * as state from "./state-protocol.ts";
import { type InstanceStatus, statusSchema } from "./status-protocol.ts";

export const INSTANCE_VERSION = 1;
export const SOCKET_NAME = "instance.sock";

/** What there is to ask, and what is answered. */
export interface InstanceRequests {
  readonly status: { readonly params: NoParams; readonly result: InstanceStatus };
  readonly profile: { readonly params: ProfileParams; readonly result: ProfileResult };
  readonly "take-over": { readonly params: NoParams; readonly result: TakeOverResult };
  readonly command: {
    readonly params: command.CommandParams;
    readonly result: command.CommandResult;
  };
  readonly complete: {
    readonly params: command.CompleteParams;
    readonly result: command.CompleteResult;
  };
  readonly apply: { readonly params: state.ApplyParams; readonly result: state.ChangesResult };
  readonly delete: { readonly params: state.DeleteParams; readonly result: state.ChangesResult };
  readonly get: { readonly params: state.GetParams; readonly result: state.GetResult };
  readonly support: { readonly params: NoParams; readonly result: command.SupportResult };
}

/** What there is to follow, and what comes. */
export interface InstanceStreams {
  readonly events: { readonly params: NoParams; readonly item: command.EventItem };
  readonly watch: { readonly params: state.WatchParams; readonly item: state.WatchItem };
}

export type RequestName = keyof InstanceRequests;
export type StreamName = keyof InstanceStreams;

export type NoParams = Readonly<Record<string, never>>;

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

export interface StreamSpec<N extends StreamName> {
  /** One sentence without a full stop, for docs. */
  readonly help: string;
  readonly params: z.ZodType<InstanceStreams[N]["params"]>;
  readonly item: z.ZodType<InstanceStreams[N]["item"]>;
}

/** An hour is more than anybody reads. */
const MAX_PROFILE_SECONDS = 3600;

const noParams: z.ZodType<NoParams> = z.strictObject({});

export const INSTANCE_REQUESTS: { readonly [N in RequestName]: RequestSpec<N> } = {
  status: {
    help: "who runs here, how it is, what it serves, and its event loops",
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
  command: {
    help: "runs a command as the console does",
    params: command.commandParams,
    result: command.commandResult,
  },
  complete: {
    help: "what could stand at the end of a command line",
    params: command.completeParams,
    result: command.completeResult,
  },
  apply: {
    help: "makes objects so, all or nothing, with the fewest changes",
    params: state.applyParams,
    result: state.changesResult,
  },
  delete: {
    help: "removes objects, all or nothing",
    params: state.deleteParams,
    result: state.changesResult,
  },
  get: {
    help: "the objects of the state with their owners",
    params: state.getParams,
    result: state.getResult,
  },
  support: {
    help: "what a bug report needs of this instance, without secrets",
    params: noParams,
    result: command.supportResult,
  },
};

export const INSTANCE_STREAMS: { readonly [N in StreamName]: StreamSpec<N> } = {
  events: {
    help: "lines of the log, and servers whose health changes",
    params: noParams,
    item: command.eventItem,
  },
  watch: {
    help: "the objects of the state, then their changes",
    params: state.watchParams,
    item: state.watchItem,
  },
};

export function isRequestName(name: string): name is RequestName {
  return Object.hasOwn(INSTANCE_REQUESTS, name);
}

export function isStreamName(name: string): name is StreamName {
  return Object.hasOwn(INSTANCE_STREAMS, name);
}

/** What a refusal says. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  /** All that is wrong with what was sent, where that can be said one by one. */
  readonly problems: readonly Problem[];
}

const problem: z.ZodType<Problem> = z.object({
  path: z.array(z.union([z.string(), z.number()])),
  fault: z.enum(["invalid", "missing", "unknown key", "taken", "malformed"]),
  value: z.string(),
  expected: z.string(),
  location: z.string().exactOptional(),
});

export const refusalSchema: z.ZodType<Refusal> = z.object({
  code: z.string(),
  message: z.string(),
  problems: z.array(problem).default([]),
});
