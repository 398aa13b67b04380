import type { ResourceName } from "./resource-names.ts";

/** What can be done to a resource. */
export const ACTIONS = ["add", "list", "list-detail", "update", "remove", "force-remove"] as const;

export type Action = (typeof ACTIONS)[number];

/** A resource by its type and name, such as the `server-group g0` of `server s1 in server-group g0`. */
export interface ResourceRef {
  readonly type: ResourceName;
  readonly name: string;
}

/** A value as it was typed, or as JSON gave it; read by the `ParamSpec` that it is for. */
export type ParamInput =
  | string
  | number
  | boolean
  | readonly string[]
  | Readonly<Record<string, string>>;

/** Something done to a resource: what all controllers translate into. */
export interface ResourceCommand {
  readonly kind: "resource";
  readonly action: Action;
  readonly type: ResourceName;
  /** Empty for `list` and `list-detail`, which are about all of them. */
  readonly name: string;
  /** Where it is, the nearest first: `in`, `to` and `from` all say this. */
  readonly within: readonly ResourceRef[];
  /** By the names of the parameters; a flag is `true`. */
  readonly params: ReadonlyMap<string, ParamInput>;
}

/** What concerns the whole instance. */
export interface SystemCommand {
  readonly kind: "system";
  readonly verb: SystemVerb;
  readonly args: readonly string[];
}

export const SYSTEM_VERBS = [
  "help",
  "version",
  "list config",
  "save",
  "load",
  "shutdown",
  "lookup",
] as const;

export type SystemVerb = (typeof SYSTEM_VERBS)[number];

/** `man`, `man RESOURCE`, `man RESOURCE ACTION`. */
export interface ManCommand {
  readonly kind: "man";
  readonly type: ResourceName | undefined;
  readonly action: Action | undefined;
}

export type Command = ResourceCommand | SystemCommand | ManCommand;

/** Who gives a command, for the audit and for what only some may do. */
export interface Caller {
  readonly via: "console" | "resp" | "http";
  /** Where from: an address, `pid 4711`. */
  readonly from: string;
  /** Whether it may give system commands: the console always, others where the operator allows it. */
  readonly maySystem: boolean;
}
