import { POLICY_OPTIONS } from "../../core/route/policy-options.ts";
import type { SetName } from "../../core/view/ops.ts";

export const HEALTHCHECKS_OPTIONS: Pick<typeof POLICY_OPTIONS, "nodeportAddresses"> = {
  nodeportAddresses: POLICY_OPTIONS.nodeportAddresses,
};

/** Beside services and endpoints: where node ports answer is known from the Node object. */
export const HEALTHCHECKS_SETS: readonly SetName[] = ["nodes"];
