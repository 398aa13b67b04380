import { CoreError } from "../../core/errors.ts";
import { createFullStateSink } from "../../core/sinks/fullstate.ts";
import type { Op } from "../../core/view/ops.ts";
import { type Exec, stdinText } from "../../platform/linux/exec.ts";
import { detectMode } from "../../platform/linux/iptables/detect-mode.ts";
import {
  createIptablesTool,
  type IptablesMode,
  type IptablesTool,
  restoreCommand,
} from "../../platform/linux/iptables/iptables-tool.ts";
import type { KernelModules } from "../../platform/linux/kernel-modules.ts";
import type { Sysctl } from "../../platform/linux/sysctl.ts";
import type { BackendContext, Preview } from "../backend.ts";
import { familiesOf } from "../kernel-facts.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import { limitLines } from "../limit-lines.ts";
import { FamilyPlane } from "./family-plane.ts";
import { GlueKeeper } from "./glue/glue-keeper.ts";
import { setsOf } from "./glue/set-names.ts";
import { modulesFor } from "./kernel/modules.ts";
import type { IpvsPlatform } from "./kernel/platform.ts";
import { prepareKernel } from "./kernel/prepare-kernel.ts";
import { createRecordingPlatform, Recorder } from "./recording-platform.ts";
import { ServicePlanner } from "./service-planner.ts";
import { type IpvsValues, settingsOf } from "./settings.ts";

/** What is looked at; nothing is touched. */
export interface PreviewWorld {
  readonly exec: Exec;
  readonly sysctl: Pick<Sysctl, "read">;
  readonly modules: Pick<KernelModules, "notLoaded">;
  openPlatform(): Promise<IpvsPlatform>;
}

/** What the tools would be given that do what a first sync does. */
export async function previewIpvs(
  options: IpvsValues,
  context: BackendContext,
  ops: readonly Op[],
  world: PreviewWorld,
): Promise<Preview> {
  const detected = options.iptablesMode === "auto" ? await detectMode(world.exec) : undefined;
  const mode = options.iptablesMode === "auto" ? (detected?.mode ?? "nft") : options.iptablesMode;
  // Before the kernel is asked for IPVS, which loads it.
  const modules = world.modules.notLoaded(modulesFor(options.ipvsScheduler));
  const plan = (real: IpvsPlatform | undefined) =>
    scriptOf({ options, context, ops, world, mode, modules, real });
  let platform: IpvsPlatform | undefined;
  try {
    platform = await world.openPlatform();
    return { script: await plan(platform) };
  } catch (error) {
    if (!(error instanceof CoreError) || error.code === "ERR_USAGE") throw error;
    return { script: await plan(undefined), unread: error.message };
  } finally {
    platform?.ipvs.close();
    platform?.sets.close();
    platform?.link.close();
  }
}

interface ScriptParts {
  readonly options: IpvsValues;
  readonly context: BackendContext;
  readonly ops: readonly Op[];
  readonly world: PreviewWorld;
  readonly mode: IptablesMode;
  /** Those that would be loaded. */
  readonly modules: readonly string[];
  /** Undefined: as if the kernel held nothing. */
  readonly real: IpvsPlatform | undefined;
}

/** A first sync whose changes are written down in place of being made. */
async function scriptOf(parts: ScriptParts): Promise<string> {
  const { options, context, ops, world, mode, modules, real } = parts;
  const { nodeName, log } = context;
  const settings = settingsOf(options);
  const recorder = new Recorder();
  const platform = createRecordingPlatform(recorder, real);
  const sysctl = recordingSysctl(recorder, world.sysctl);
  const families = await familiesOf(world.sysctl);
  const sets = families.map(setsOf);
  if (modules.length > 0) {
    recorder.record("modules of the kernel", [`modprobe -a ${modules.join(" ")}`]);
  }
  const silent = { ...log, info: () => undefined };
  await prepareKernel({ platform, sysctl, families: sets, settings, log: silent });
  const planner = new ServicePlanner(settings, nodeName, families);
  const planes = families.map((family) => {
    const names = setsOf(family);
    const tool = recordingTool(recorder, createIptablesTool(family, mode, world.exec), real);
    const glue = new GlueKeeper(tool, names);
    const { marks } = planner;
    return new FamilyPlane({ family, platform, sets: names, glue, marks, settings, log });
  });
  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName, sets: KERNEL_SETS }),
    apply: async (state, changed) => {
      const changes = planner.plan(state, changed);
      for (const plane of planes) {
        const change = changes.get(plane.family);
        if (change !== undefined) await plane.sync(change);
      }
    },
  });
  for (const op of ops) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
  if (!ops.some(({ op }) => op === "sync")) await sink.send({ op: "sync" });
  for (const line of limitLines(planner.limits())) log.warn({ backend: "ipvs" }, line);
  return recorder.text();
}

function recordingSysctl(recorder: Recorder, real: Pick<Sysctl, "read">): Sysctl {
  return {
    read: real.read,
    ensure: async (name, value) => {
      if ((await real.read(name)) === value) return false;
      recorder.record("settings of the kernel", [`sysctl -w ${name}=${value}`]);
      return true;
    },
  };
}

function recordingTool(
  recorder: Recorder,
  tool: IptablesTool,
  real: IpvsPlatform | undefined,
): IptablesTool {
  const { family, mode } = tool;
  return {
    family,
    mode,
    save: async () => (real === undefined ? "" : tool.save()),
    restore: async (script) =>
      recorder.record(restoreCommand(family, mode).join(" "), [stdinText(script).trimEnd()]),
  };
}
