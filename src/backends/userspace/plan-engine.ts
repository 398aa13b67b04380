import type { FullState } from "../../core/sinks/fullstate.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import {
  EMPTY_ENGINE_CONFIG,
  type EngineConfig,
  type ListenerConfig,
} from "../../proxy/engine-config.ts";
import type { NodeFacts } from "./node-facts.ts";
import { NotHonoured } from "./not-honoured.ts";
import { planListeners } from "./plan-listeners.ts";
import { planServiceAddresses } from "./plan-service-addresses.ts";
import { UpstreamPlanner } from "./upstream-planner.ts";

export interface EnginePlan {
  readonly config: EngineConfig;
  /** In words, a line for each reason. */
  readonly notHonoured: readonly string[];
}

/** What the engine shall do so that the state is true on this machine, and what it can not do of it. */
export function planEngine(state: FullState, facts: NodeFacts): EnginePlan {
  const upstreams = new UpstreamPlanner(state.further.groups);
  const notHonoured = new NotHonoured();
  const wanted = [
    ...planServiceAddresses(state, facts, upstreams, notHonoured),
    ...planListeners(state, facts, upstreams, notHonoured),
  ];
  const listeners = keepFirstOfEach(wanted, notHonoured);
  const config = {
    ...EMPTY_ENGINE_CONFIG,
    listeners,
    upstreams: upstreams.upstreams,
    groups: upstreams.groups,
  };
  return { config, notHonoured: notHonoured.lines() };
}

/** Of those that want the same address and port, the first has it. */
function keepFirstOfEach(
  wanted: readonly ListenerConfig[],
  notHonoured: NotHonoured,
): readonly ListenerConfig[] {
  const holders = new Map<string, string>();
  return wanted.filter(({ key, address, mode }) => {
    const socket = `${formatSocketAddress(address)}${mode === "udp" ? "/udp" : ""}`;
    const holder = holders.get(socket);
    if (holder === undefined) holders.set(socket, key);
    else notHonoured.add(`${socket} is taken by ${holder}`, key);
    return holder === undefined;
  });
}
