import { EDGE_MQTT_OPTIONS, resolveMqtt } from "../../daemon/edge/mqtt/mqtt-settings.ts";
import {
  EDGE_INSTANCE_OPTIONS,
  EDGE_NODE_OPTIONS,
  type EdgeNodeValues,
} from "../../daemon/edge/options.ts";
import { type EdgeSettings, resolveSettings } from "../../daemon/edge/resolve-settings.ts";
import { LOG_OPTIONS } from "../../daemon/options.ts";
import type { CommandInput, CommandSpec } from "../command-spec.ts";
import { EXIT_OK } from "../exit-codes.ts";
import { resolveFlags } from "../flags.ts";
import { serveEdgeNode } from "./serve-edge-node.ts";

/** The REST API of a node, with or without a manager. */
export const EDGE_NODE: CommandSpec = {
  name: "edge node",
  summary: "connect the workloads of this machine as a node engine asks for it",
  description:
    "Needs root on Linux. Orders come by a REST API: /register says the network of this node, /docker/deploy and /container/deploy connect a container, the process with a pid, or netns:NAME; /docker/undeploy removes what that made. A node that has joined a manager (edge join) goes on as its member. SIGTERM ends it and leaves workloads connected; started again, it finds them. portolan cleanup --edge removes everything. See docs/edge.md.",
  arguments: [],
  optionGroups: [
    { title: "Node", specs: EDGE_NODE_OPTIONS },
    { title: "A cluster that speaks MQTT", specs: EDGE_MQTT_OPTIONS },
    { title: "This instance", specs: EDGE_INSTANCE_OPTIONS },
    { title: "Logs", specs: LOG_OPTIONS },
  ],
  examples: [
    { help: "a node that an engine registers", command: "edge node --state /var/lib/portolan" },
    {
      help: "with its network given, and podman as the engine",
      command: "edge node --subnet 10.18.0.64/26 --engine-socket /run/podman/podman.sock",
    },
    {
      help: "a node of a cluster that speaks MQTT",
      command: "edge node --mqtt 192.0.2.1:10003 --mqtt-id worker1",
    },
    {
      help: "what it would do now, in the kernel",
      command: "edge node --subnet 10.18.0.64/26 --dry-run",
    },
  ],
  run,
};

async function run(input: CommandInput): Promise<number> {
  const values: EdgeNodeValues = resolveFlags(
    { ...EDGE_NODE_OPTIONS, ...EDGE_INSTANCE_OPTIONS },
    input,
  );
  const mqtt = resolveMqtt(
    resolveFlags(EDGE_MQTT_OPTIONS, input),
    values.node ?? input.context.hostName,
  );
  const settings = { ...resolveSettings(values), mqtt };
  const { assertPossible } = await import("../../daemon/edge/edge-node.ts");
  await assertPossible();
  return values.dryRun ? dryRun(settings, input) : serveEdgeNode(settings, input);
}

async function dryRun(settings: EdgeSettings, { context }: CommandInput): Promise<number> {
  const { previewEdgeNode } = await import("../../daemon/edge/preview-edge-node.ts");
  context.stdout.write(await previewEdgeNode(settings));
  return EXIT_OK;
}
