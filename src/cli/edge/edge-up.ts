import process from "node:process";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import { type InstanceConfig, resolveConfig } from "../../daemon/config.ts";
import { createDeps } from "../../daemon/create-deps.ts";
import { EDGE_INSTANCE_OPTIONS, EDGE_NODE_OPTIONS } from "../../daemon/edge/options.ts";
import { type EdgeSettings, resolveSettings } from "../../daemon/edge/resolve-settings.ts";
import { listenForEnd } from "../../daemon/end-requests.ts";
import { createLogger } from "../../daemon/logger.ts";
import { MANAGER_OPTIONS } from "../../daemon/manager/manager-options.ts";
import { API_SERVER_OPTIONS, CONTROL_OPTIONS, LOG_OPTIONS } from "../../daemon/options.ts";
import type { CommandInput, CommandSpec } from "../command-spec.ts";
import { resolveFlags } from "../flags.ts";
import { loadNotifier } from "../load-notifier.ts";

const { subnet: _, serviceRange: ____, ...NODE_OPTIONS } = EDGE_NODE_OPTIONS;
const { dryRun: __, json: ___, ...INSTANCE } = EDGE_INSTANCE_OPTIONS;
const { apiListen } = API_SERVER_OPTIONS;

const OWN_OPTIONS = {
  nodeMetricsListen: {
    kind: "address",
    canBeOff: true,
    help: "where metrics of the node are served, beside those of the manager (--metrics-listen); off unless given",
  },
} as const;

/** `manager` and `edge join` in one process. */
export const EDGE_UP: CommandSpec = {
  name: "edge up",
  summary: "an edge on this machine, in one command: a manager, and a node that joined it",
  description:
    "Needs root on Linux. The first start makes the edge and has this machine join it; later ones go on with it. Orders come by the REST API of edge node, and commands as for up. With --api-listen on an address that others reach, further machines join it (edge join). Ctrl-C ends it in order and leaves workloads connected; portolan cleanup --edge removes them. See docs/edge.md.",
  arguments: [],
  optionGroups: [
    { title: "Manager", specs: { apiListen, ...MANAGER_OPTIONS } },
    { title: "Node", specs: { ...NODE_OPTIONS, ...OWN_OPTIONS } },
    { title: "This instance", specs: INSTANCE },
    { title: "Commands", specs: CONTROL_OPTIONS },
    { title: "Logs", specs: LOG_OPTIONS },
  ],
  examples: [
    { help: "all on this machine", command: "edge up" },
    {
      help: "and others may join",
      command: "edge up --api-listen 0.0.0.0:12090 --state /var/lib/portolan",
    },
  ],
  run,
};

async function run(input: CommandInput): Promise<number> {
  const { flags, context } = input;
  const { stdout, stderr, environment, hostName } = context;
  const { assertPossible } = await import("../../daemon/edge/edge-node.ts");
  await assertPossible();
  const config = await resolveConfig({ flags, environment, hostName, isManager: true });
  const settings = settingsOf(input, config);
  const { logLevel: level, logFormat: format } = config.values;
  const log = await createLogger({ level, format, isTerminal: stderr.isTTY === true });
  const end = listenForEnd({
    signals: process,
    stdout,
    log,
    hasTerminal: stderr.isTTY === true,
    exit: (code) => process.exit(code),
  });
  try {
    const { startEdgeUp } = await import("../../daemon/edge/edge-up.ts");
    const up = await startEdgeUp(config, settings, { deps: createDeps(log, stdout), hostName });
    const notifier = await loadNotifier(environment, log);
    notifier?.ready();
    const unwatch = notifier?.watch(() => up.manager.isLive());
    stdout.write(nextSteps(settings, config.values.apiListen, up.node.addresses));
    try {
      const { reason, exitCode } = await Promise.race([end.asked, up.manager.failed]);
      log.info({ reason }, "ending; workloads stay connected");
      return exitCode;
    } finally {
      notifier?.stopping();
      unwatch?.();
      await up.close();
    }
  } finally {
    end.dispose();
  }
}

function settingsOf(input: CommandInput, { node }: InstanceConfig): EdgeSettings {
  const values = resolveFlags({ ...NODE_OPTIONS, ...INSTANCE }, input);
  const { serviceRanges: serviceRange } = resolveFlags(MANAGER_OPTIONS, input);
  const { nodeMetricsListen: metricsListen } = resolveFlags(OWN_OPTIONS, input);
  return resolveSettings({
    ...values,
    serviceRange,
    node,
    metricsListen,
    subnet: [],
    dryRun: false,
    json: false,
  });
}

/** What to do now, for somebody who has never seen it. */
function nextSteps(
  { folder }: EdgeSettings,
  api: ListenAddress,
  rest: readonly ListenAddress[],
): string {
  const state = `--state ${folder}`;
  const isOpen = api.kind === "tcp" && !/^(127\.|::1|localhost)/.test(api.host);
  const deployment = '{"containerId":"netns:web","appName":"web","instanceNumber":0}';
  const join = isOpen
    ? `portolan manager token create ${state} > token, and there: portolan edge join THIS-MACHINE:${api.port} --token-file token`
    : "start it with --api-listen 0.0.0.0:12090";
  const lines = [
    `edge up: REST API on ${rest.map(formatListenAddress).join(" and ")}, manager on ${formatListenAddress(api)}`,
    "connect a workload (a pid, a container, or netns:NAME):",
    `  curl --unix-socket ${folder}/edge.sock -H 'content-type: application/json' http://node/docker/deploy -d '${deployment}'`,
    `look at it:           portolan edge status ${state}`,
    `let others join:      ${join}`,
    `remove everything:    Ctrl-C, then portolan cleanup --edge ${state}`,
  ];
  return `${lines.join("\n")}\n`;
}
