import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import {
  NODE_PORT_ADDRESSES_FORM,
  parseNodePortAddresses,
} from "../../core/route/parse-node-port-addresses.ts";
import type { NodePortAddresses } from "../../core/route/route-policy.ts";
import { createFullStateSink } from "../../core/sinks/fullstate.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import type { Engine, EngineOptions } from "../../proxy/engine.ts";
import { EMPTY_ENGINE_CONFIG, type EngineConfig } from "../../proxy/engine-config.ts";
import type { Backend, BackendContext, BackendStatus } from "../backend.ts";
import { engineMetrics } from "./engine-metrics.ts";
import { type USERSPACE_OPTIONS, USERSPACE_SETS } from "./options.ts";
import { type EnginePlan, planEngine } from "./plan-engine.ts";

/** What the backend takes from the world; tests give their own. */
export interface UserspaceWorld {
  readonly createEngine: (options: EngineOptions) => Promise<Engine>;
  readonly machineAddresses: () => ReadonlySet<string>;
  readonly cores: number;
}

const NOTHING_YET: EnginePlan = {
  config: EMPTY_ENGINE_CONFIG,
  notHonoured: [],
};

/** @throws CoreError ERR_CONFIG_INVALID, or what the engine says where it can not start */
export async function createUserspaceBackend(
  options: ValuesOf<typeof USERSPACE_OPTIONS>,
  { nodeName, log }: BackendContext,
  world: UserspaceWorld,
): Promise<Backend> {
  const nodePortAddresses = nodePortAddressesOf(options.nodeportAddresses);
  const engine = await world.createEngine({
    loops: options.loops ?? world.cores,
    provider: options.provider === "node" ? "node" : "posix",
    drainTimeoutMs: options.drainTimeout,
    log,
  });
  let plan = NOTHING_YET;
  const sink = createFullStateSink({
    waitRequest: () => ({
      nodeName,
      sets: USERSPACE_SETS,
    }),
    apply: async (state) => {
      const machineAddresses = world.machineAddresses();
      const before = plan;
      plan = planEngine(state, { nodeName, machineAddresses, nodePortAddresses });
      for (const line of plan.notHonoured) {
        if (!before.notHonoured.includes(line)) log.warn({ backend: "userspace" }, line);
      }
      await engine.apply(plan.config);
      logChange(log, before.config, plan.config);
    },
  });
  return {
    sink,
    status: () => statusOf(plan),
    metrics: () => engineMetrics(engine.stats()),
    drain: () => engine.drain(),
    // Sockets end with the process: nothing is left behind that could be removed.
    cleanup: async () => undefined,
    close: () => engine.close(),
  };
}

/** What begins and what ends, for people. */
function logChange(log: Log, before: EngineConfig, now: EngineConfig): void {
  const opened = addressesBeyond(before, now);
  const closed = addressesBeyond(now, before);
  if (opened.length > 0) log.info({ addresses: opened }, `serving ${shorten(opened)}`);
  if (closed.length > 0) log.info({ addresses: closed }, `no longer serving ${shorten(closed)}`);
}

function addressesBeyond(before: EngineConfig, now: EngineConfig): readonly string[] {
  const known = new Set(before.listeners.map(({ address }) => formatSocketAddress(address)));
  const addresses = now.listeners.map(({ address }) => formatSocketAddress(address));
  return addresses.filter((address) => !known.has(address));
}

function shorten(addresses: readonly string[]): string {
  const [first = "", ...others] = addresses;
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

function statusOf({ config, notHonoured }: EnginePlan): BackendStatus {
  const servers = config.groups.reduce((sum, group) => sum + group.servers.length, 0);
  const summary = `${config.listeners.length} listeners, ${servers} servers`;
  return { summary, notHonoured };
}

function nodePortAddressesOf(text: string): NodePortAddresses {
  const addresses = parseNodePortAddresses(text);
  if (addresses !== undefined) return addresses;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `--nodeport-addresses: "${text}" is not valid; expected ${NODE_PORT_ADDRESSES_FORM}`,
  );
}
