import type { Action } from "./command.ts";
import type { ResourceName } from "./resource-names.ts";

interface ParamBase {
  /** As it is typed: `event-loop-group`. */
  readonly name: string;
  /** In JSON: `workerLoopGroup`. */
  readonly field: string;
  /** One sentence without a full stop. */
  readonly help: string;
  /** Whether `add` needs it. */
  readonly required?: boolean;
  /** What holds where it is not given, in words or as it would be typed. */
  readonly standard?: string;
}

/** One parameter; the same record gives the grammar, the check, the manual, completion and OpenAPI. */
export type ParamSpec = ParamBase &
  (
    | { readonly kind: "text"; readonly placeholder: string; readonly secret?: boolean }
    | { readonly kind: "integer"; readonly min: number; readonly max: number }
    /** `aliases`: other words for a value, such as `wrr`. */
    | {
        readonly kind: "enum";
        readonly values: readonly string[];
        readonly aliases?: Readonly<Record<string, string>>;
      }
    /** `HOST:PORT`, `[IPV6]:PORT`; `unix`: also `unix:PATH`; `anyPort`: port 0 means any free one. */
    | { readonly kind: "address"; readonly unix?: boolean; readonly anyPort?: boolean }
    /** Separated by commas; `references`: names of such resources. */
    | { readonly kind: "list"; readonly placeholder: string; readonly references?: ResourceName }
    /** The name of another resource. */
    | { readonly kind: "reference"; readonly to: ResourceName }
    /** A JSON object of strings. */
    | { readonly kind: "strings" }
    /** A word without a value; `true` in JSON. */
    | { readonly kind: "flag" }
  );

/** A word that people try, and that an action does not take. */
export interface RefusedParam {
  readonly name: string;
  /** In JSON. */
  readonly field: string;
  /** As it follows the word: `can not be changed`. */
  readonly why: string;
  /** What is to be done, as it follows `expected`. */
  readonly instead: string;
}

/** An action as the manual tells it. */
export interface ActionSpec {
  readonly help: string;
  /** Those that this action takes. */
  readonly params: readonly ParamSpec[];
  readonly refused?: readonly RefusedParam[];
  /** Whole commands. */
  readonly examples: readonly string[];
}

/** Where a resource may stand, and what can be done to it there. */
export interface ScopeSpec {
  /** Ways to say where it is, each the nearest first; an empty one: by itself. */
  readonly within: readonly (readonly ResourceName[])[];
  readonly actions: Readonly<Partial<Record<Action, ActionSpec>>>;
}

export interface ResourceSpec {
  readonly name: ResourceName;
  /** `tl` for `tcp-lb`. */
  readonly shorts: readonly string[];
  /** One sentence without a full stop. */
  readonly summary: string;
  /** Where it belongs in the HTTP API; `none`: it is not there. */
  readonly section: "module" | "channel" | "state" | "statistics" | "none";
  /** Whether only those may use it who may give system commands. */
  readonly isSystem: boolean;
  readonly scopes: readonly ScopeSpec[];
}
