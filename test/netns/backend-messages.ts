import type { ModelObject } from "../../src/core/model/object.ts";
import type { ChurnPlan, ChurnReport } from "./endpoint-churn.ts";

/** Options as a user would write them, by their name in code. */
export type RawOptions = Readonly<Record<string, string | number | boolean>>;

/** What a test asks of the process that runs the backend, in order; each is answered. */
export type BackendRequest =
  /** Ends the backend that runs, with all that it programmed, and starts one with these options. */
  | {
      readonly kind: "start";
      readonly backend: string;
      readonly options: RawOptions;
      /** The name of the node that it is on. */
      readonly node: string;
    }
  /** Answered when the data plane has it. */
  | { readonly kind: "apply"; readonly objects: readonly ModelObject[] }
  /** Answered when it is over. */
  | { readonly kind: "churn"; readonly plan: ChurnPlan }
  | { readonly kind: "stop" };

/** Undefined where all went well. */
export interface BackendReply {
  readonly problem: string | undefined;
  /** What a churn was. */
  readonly churn?: ChurnReport | undefined;
}
