import type { ValuesOf } from "../../core/options/option-spec.ts";
import { createFullStateSink } from "../../core/sinks/fullstate.ts";
import type { Op } from "../../core/view/ops.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import type { NFTABLES_OPTIONS } from "./options.ts";
import { Planner } from "./plan/planner.ts";
import { planSettingsOf } from "./plan-settings.ts";

/** The transaction of a first sync, as `nft -f -` would read it. @throws CoreError ERR_USAGE */
export async function previewNftables(
  options: ValuesOf<typeof NFTABLES_OPTIONS>,
  nodeName: string,
  ops: readonly Op[],
): Promise<string> {
  const planner = new Planner(planSettingsOf(options, nodeName));
  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName, sets: KERNEL_SETS }),
    apply: (state, changed) => planner.update(state, changed),
  });
  for (const op of ops) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
  return planner.tables.map((table) => table.fullScript(undefined)).join("");
}
