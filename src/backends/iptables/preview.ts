import { FAMILIES } from "../../core/model/address.ts";
import { createDecoderSink } from "../../core/sinks/decoder.ts";
import type { Op } from "../../core/view/ops.ts";
import type { BackendContext } from "../backend.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import { ChangeWatch } from "./change-watch.ts";
import { fixedSettingOf, type IptablesValues, proxierSettingOf } from "./create-context.ts";
import { FamilyProxier } from "./family-proxier.ts";
import { restoreCommand } from "./iptables-tool.ts";
import { NodeRules } from "./node-rules.ts";

/** What `iptables-restore` would be given on a machine without rules. */
export async function previewIptables(
  options: IptablesValues,
  { nodeName, log }: BackendContext,
  ops: readonly Op[],
): Promise<string> {
  const rules = new NodeRules(nodeName);
  const sink = createDecoderSink({
    setup: () => undefined,
    waitRequest: () => ({ nodeName, sets: KERNEL_SETS }),
    setService: rules.setService,
    deleteService: rules.deleteService,
    setEndpoint: rules.setEndpoint,
    deleteEndpoint: rules.deleteEndpoint,
    further: rules.further,
    reset: rules.reset,
    sync: () => undefined,
  });
  for (const op of ops) {
    if (op.op === "reset") sink.reset();
    else sink.send(op);
  }
  const fixed = fixedSettingOf(options, rules, false);
  const mode = options.iptablesMode === "legacy" ? "legacy" : "nft";
  const parts: string[] = [];
  for (const family of FAMILIES) {
    const restore = async (script: string): Promise<void> => {
      parts.push(`# ${restoreCommand(family, mode).join(" ")}\n${script}`);
    };
    const tool = { family, mode, save: async () => "", restore } as const;
    const setting = proxierSettingOf(family, fixed, rules);
    await new FamilyProxier(tool, rules, new ChangeWatch(undefined, log), log).sync([], setting);
  }
  return parts.join("\n");
}
