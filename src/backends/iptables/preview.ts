import { CoreError } from "../../core/errors.ts";
import type { FAMILIES } from "../../core/model/address.ts";
import { createDecoderSink } from "../../core/sinks/decoder.ts";
import { Turns } from "../../core/turns.ts";
import type { Op } from "../../core/view/ops.ts";
import { type Exec, stdinText } from "../../platform/linux/exec.ts";
import { detectMode } from "../../platform/linux/iptables/detect-mode.ts";
import {
  createIptablesTool,
  type IptablesMode,
  type IptablesTool,
  restoreCommand,
} from "../../platform/linux/iptables/iptables-tool.ts";
import type { NftTables } from "../../platform/linux/nft/nft-tables.ts";
import { planLoopback } from "../../platform/linux/route-localnet.ts";
import type { BackendContext, Preview } from "../backend.ts";
import { directSettingOf } from "../direct-setting.ts";
import { familiesOf, isLiberal } from "../kernel-facts.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import { type ProbeDirect, previewDirect } from "../preview-direct.ts";
import { type FastPreviewWorld, previewFast } from "../preview-fast.ts";
import { ChangeWatch } from "./change-watch.ts";
import { fixedSettingOf, type IptablesValues, proxierSettingOf } from "./create-context.ts";
import { FamilyProxier } from "./family-proxier.ts";
import { NodeRules } from "./node-rules.ts";
import { OWN_RULES } from "./own-rules.ts";

/** What is looked at; nothing is touched. */
export interface PreviewWorld extends FastPreviewWorld {
  readonly exec: Exec;
  readonly probeDirect: ProbeDirect;
  readonly nftTables: Pick<NftTables, "list">;
}

/** What `iptables-restore` would be given: what differs from the rules that the kernel has. */
export async function previewIptables(
  options: IptablesValues,
  context: BackendContext,
  ops: readonly Op[],
  world: PreviewWorld,
): Promise<Preview> {
  const rules = rulesFrom(ops, context.nodeName);
  const plan = (mode: IptablesMode, found: FoundRules) =>
    scriptOf({ options, context, rules, sysctl: world.sysctl, mode, found });
  const further = [
    ...(await directLines(options, rules, world)),
    ...(await previewFast(options.fastPath, OWN_RULES, world)),
  ];
  const fallback = options.iptablesMode === "legacy" ? "legacy" : "nft";
  const mode = await modeOf(options.iptablesMode, world.exec);
  if (mode === undefined) {
    const unread = "neither iptables-nft-save nor iptables-legacy-save work here";
    return { script: await plan(fallback, NOTHING_THERE), further, unread };
  }
  try {
    const save: FoundRules["save"] = (family) =>
      createIptablesTool(family, mode, world.exec).save();
    const listTables = mode === "nft" ? world.nftTables.list : NOTHING_THERE.listTables;
    return { script: await plan(mode, { save, listTables }), further };
  } catch (error) {
    if (!(error instanceof CoreError) || error.code === "ERR_USAGE") throw error;
    return { script: await plan(mode, NOTHING_THERE), further, unread: error.message };
  }
}

async function directLines(
  options: IptablesValues,
  rules: NodeRules,
  { sysctl, probeDirect: probe }: PreviewWorld,
): Promise<readonly string[]> {
  const services = [...rules.groups()].flatMap((key) => {
    const item = rules.get(key);
    return item === undefined ? [] : [[key, item] as const];
  });
  const families = await familiesOf(sysctl);
  return previewDirect({
    ...directSettingOf(options),
    families,
    services,
    isRandom: () => true,
    probe,
  });
}

/** What the kernel holds. */
interface FoundRules {
  /** All rules of a family, as `iptables-save` prints them. */
  readonly save: (family: (typeof FAMILIES)[number]) => Promise<string>;
  readonly listTables: NftTables["list"];
}

const NOTHING_THERE: FoundRules = { save: async () => "", listTables: async () => [] };

async function modeOf(
  wanted: IptablesValues["iptablesMode"],
  exec: Exec,
): Promise<IptablesMode | undefined> {
  return wanted === "auto" ? (await detectMode(exec))?.mode : wanted;
}

function rulesFrom(ops: readonly Op[], nodeName: string): NodeRules {
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
  return rules;
}

interface ScriptParts {
  readonly options: IptablesValues;
  readonly context: BackendContext;
  readonly rules: NodeRules;
  readonly sysctl: PreviewWorld["sysctl"];
  readonly mode: IptablesMode;
  readonly found: FoundRules;
}

/** A first sync whose restores are written down in place of being made. */
async function scriptOf(parts: ScriptParts): Promise<string> {
  const { options, rules, sysctl, mode, found } = parts;
  const { log } = parts.context;
  const fixed = fixedSettingOf(options, rules, await isLiberal(sysctl));
  const scripts: string[] = [];
  for (const family of await familiesOf(sysctl)) {
    const restore: IptablesTool["restore"] = async (script) => {
      scripts.push(`# ${restoreCommand(family, mode).join(" ")}\n${stdinText(script)}`);
    };
    const tool = { family, mode, save: () => found.save(family), restore } as const;
    const setting = proxierSettingOf(family, fixed, rules);
    const nftTables: NftTables = {
      list: found.listTables,
      wake: async (tables) => {
        for (const { family: nft, name } of tables) {
          scripts.push(`# nft add table ${nft} ${name} (which is dormant)\n`);
        }
      },
    };
    const shared = {
      watch: new ChangeWatch(undefined, log),
      planning: new Turns(),
      nftTables,
      log,
    };
    await new FamilyProxier(tool, rules, shared).sync([], setting);
    if (!setting.guardsLoopback) continue;
    const loopback = await planLoopback(sysctl);
    if (loopback !== "") scripts.push(loopback);
  }
  return scripts.join("\n");
}
