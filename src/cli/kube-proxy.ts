import { writeFile } from "node:fs/promises";
import { loadBackend } from "../backends/registry.ts";
import type { OptionSpec, OptionSpecs } from "../core/options/option-spec.ts";
import { refuseBackend } from "../daemon/backend-words.ts";
import { resolveConfig } from "../daemon/config.ts";
import { INSTANCE_OPTIONS, RUN_OPTIONS } from "../daemon/options.ts";
import { CLEANUP } from "./cleanup.ts";
import type { CliContext, CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { readSettings, type SettingValues } from "./kube-proxy/read-settings.ts";
import { SETTINGS, type Setting } from "./kube-proxy/settings.ts";
import { backendOf, translate } from "./kube-proxy/translate.ts";
import { runDaemon } from "./run-daemon.ts";
import { VERSION } from "./version.ts";

const { state, once, dryRun, json } = INSTANCE_OPTIONS;

const OWN_OPTIONS = {
  to: {
    kind: "string",
    placeholder: "BACKEND",
    help: "another backend than that of the proxy mode",
  },
  takeOver: { kind: "boolean", help: "also while a kube-proxy runs" },
  state,
  once,
  dryRun,
  json,
} as const;

/** A preset of the daemon that is told what kube-proxy would be told. */
export const KUBE_PROXY: CommandSpec = {
  name: "kube-proxy",
  summary: "take the place of kube-proxy, with its flags and its configuration file",
  description:
    "Follows the cluster, programs the backend of the proxy mode and answers on kube-proxy's ports. What can not be honoured is listed at the start. A flag wins over the file.",
  arguments: [],
  optionGroups: [
    { title: "Beyond kube-proxy", specs: OWN_OPTIONS },
    { title: "As kube-proxy has them", specs: kubeProxyFlags() },
  ],
  examples: [
    {
      help: "in place of kube-proxy in its DaemonSet",
      command: "kube-proxy --config /var/lib/kube-proxy/config.conf --hostname-override worker-1",
    },
    {
      help: "the same services by nftables, whatever the mode was: what would be done",
      command: "kube-proxy --config config.conf --to nftables --dry-run",
    },
  ],
  run: runKubeProxy,
};

async function runKubeProxy(input: CommandInput): Promise<number> {
  const { flags, context } = input;
  const settings = await readSettings(flags);
  if (settings.get("version") === true) return VERSION.run({ ...input, flags: {} });
  if (settings.get("cleanup") === true) {
    return CLEANUP.run({ ...input, flags: { kubeProxy: true, takeOver: flags["takeOver"] } });
  }
  if (settings.get("initOnly") === true) {
    context.stdout.write("--init-only: there is nothing to prepare\n");
    return EXIT_OK;
  }
  return runWith(settings, flags, context);
}

async function runWith(
  settings: SettingValues,
  flags: CommandInput["flags"],
  context: CliContext,
): Promise<number> {
  const { environment, hostName, stderr } = context;
  const backend = typeof flags["to"] === "string" ? flags["to"] : backendOf(settings);
  const definition = await loadBackend(backend);
  if (definition === undefined) refuseBackend(backend, "proxy mode");
  const knownOptions = new Set([...Object.keys(RUN_OPTIONS), ...Object.keys(definition.options)]);
  const translation = translate(settings, { backend, knownOptions });
  for (const line of translation.notHonoured) stderr.write(`not honoured: ${line}\n`);
  const { takeOver, state: folder, once: isOnce, dryRun: isDry, json: isJson } = flags;
  const own = { takeOver, state: folder, once: isOnce, dryRun: isDry, json: isJson };
  const config = await resolveConfig({
    flags: { ...translation.flags, ...own, to: [backend, "healthchecks"] },
    environment,
    hostName,
  });
  await adjustOomScore(translation.oomScoreAdj, context);
  return runDaemon(config, context);
}

/** Who may not lower it goes on without. */
async function adjustOomScore(score: number | undefined, { stderr }: CliContext): Promise<void> {
  if (score === undefined) return;
  await writeFile("/proc/self/oom_score_adj", String(score)).catch((error: unknown) => {
    stderr.write(`not honoured: --oom-score-adj: ${String(error)}\n`);
  });
}

function kubeProxyFlags(): OptionSpecs {
  const flags = SETTINGS.filter(({ hasNoFlag }) => hasNoFlag !== true);
  return Object.fromEntries(flags.map((setting) => [setting.name, flagSpec(setting)]));
}

function flagSpec({ fate, kind }: Setting): OptionSpec {
  const help = helpOf(fate);
  if (kind === "truth") return { kind: "boolean", placeholder: "BOOL", help };
  return { kind: "string", placeholder: kind === "duration" ? "TIME" : "VALUE", help };
}

function helpOf(fate: Setting["fate"]): string {
  if (fate === "special" || fate === "given") return "as kube-proxy has it";
  return "not" in fate ? `not honoured: ${fate.not}` : "as kube-proxy has it";
}
