import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import {
  NODE_PORT_ADDRESSES_FORM,
  parseNodePortAddresses,
} from "../../core/route/parse-node-port-addresses.ts";
import type { NodePortAddresses } from "../../core/route/route-policy.ts";
import { createFullStateSink, type FullState } from "../../core/sinks/fullstate.ts";
import type { TunnelSettings } from "../../net/kcp/kcp-options.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import type { Engine, EngineOptions } from "../../proxy/engine.ts";
import { EMPTY_ENGINE_CONFIG, type EngineConfig } from "../../proxy/engine-config.ts";
import type { Backend, BackendContext, BackendStatus } from "../backend.ts";
import { EngineControl } from "./engine-control.ts";
import { engineMetrics } from "./engine-metrics.ts";
import { ListenerFileBook } from "./files/listener-files.ts";
import { type USERSPACE_OPTIONS, USERSPACE_SETS } from "./options.ts";
import { type EnginePlan, planEngine } from "./plan-engine.ts";
import type { OpenRedirectOptions, Redirect } from "./redirect/redirect.ts";
import { RedirectPorts } from "./redirect/redirect-ports.ts";
import { NO_ELEMENTS } from "./redirect/redirect-table.ts";
import { StateRunner } from "./state-runner.ts";
import { tlsObstacleOf } from "./tls-obstacle.ts";

/** What the backend takes from the world; tests give their own. */
export interface UserspaceWorld {
  readonly createEngine: (options: EngineOptions) => Promise<Engine>;
  readonly machineAddresses: () => ReadonlySet<string>;
  readonly cores: number;
  /** Why TLS can not be terminated on this machine; absent where it can. */
  readonly tlsObstacle?: string | undefined;
  /** The secret of KCP tunnels; absent where there is none. */
  readonly tunnels?: TunnelSettings | undefined;
  /** Missing where the kernel can not be told to redirect calls. */
  readonly openRedirect?: (options: OpenRedirectOptions) => Redirect;
}

const NOTHING_YET: EnginePlan = {
  config: EMPTY_ENGINE_CONFIG,
  redirect: NO_ELEMENTS,
  notHonoured: [],
  unserved: [],
};

/** @throws CoreError ERR_CONFIG_INVALID, or what the engine says where it can not start */
export async function createUserspaceBackend(
  options: ValuesOf<typeof USERSPACE_OPTIONS>,
  { nodeName, log, inherited, onStatus }: BackendContext,
  world: UserspaceWorld,
): Promise<Backend> {
  const nodePortAddresses = nodePortAddressesOf(options.nodeportAddresses);
  const openRedirect = redirectOf(options, world);
  // Refused here and now where another instance redirects.
  const redirect = openRedirect?.({ log, takesOver: options.takeOver });
  const engine = await startEngine(redirect, () =>
    world.createEngine({
      loops: options.loops ?? world.cores,
      provider: options.provider === "node" ? "node" : "posix",
      alwaysSleeps: options.stayAwake === "off",
      drainTimeoutMs: options.drainTimeout,
      log,
      tunnels: world.tunnels,
      ...(inherited && { inherited }),
    }),
  );
  const redirectPorts = redirect && new RedirectPorts(options.redirectPort);
  const tlsObstacle =
    options.provider === "node" ? tlsObstacleOf("--provider is node") : world.tlsObstacle;
  let plan = NOTHING_YET;
  /** Of a plan that could not be carried out nothing is served. */
  let served = EMPTY_ENGINE_CONFIG;
  const apply = async (state: FullState): Promise<void> => {
    const machineAddresses = world.machineAddresses();
    const { listeners, certificates, groups } = state.further;
    const read = await files.follow(listeners.values(), certificates, groups.values());
    const before = plan;
    const facts = {
      nodeName,
      machineAddresses,
      nodePortAddresses,
      tlsObstacle,
      redirectPorts,
      hasTunnels: world.tunnels !== undefined,
    };
    plan = planEngine(state, facts, read);
    for (const line of plan.notHonoured) {
      if (!before.notHonoured.includes(line)) log.warn({ backend: "userspace" }, line);
    }
    await engine.apply(plan.config);
    // Only now somebody answers where calls are led to.
    await redirect?.apply(plan.redirect);
    logChange(log, served, plan.config);
    served = plan.config;
  };
  const runner = new StateRunner({ apply, log, onAgain: () => onStatus?.() });
  const files = new ListenerFileBook({ onChanged: () => runner.again() });
  const sink = createFullStateSink({
    waitRequest: () => ({
      nodeName,
      sets: USERSPACE_SETS,
    }),
    apply: (state) => runner.run(state),
  });
  return {
    sink,
    plane: {
      loopGroups: () => engine.loops.list(),
      profile: (loop, durationMs) => engine.loops.profile(loop, durationMs),
      sockets: () => engine.sockets(),
      release: async () => {
        await Promise.all([redirect?.leave(), engine.release()]);
      },
      control: new EngineControl({ engine, config: () => plan.config, log }),
    },
    status: () => statusOf(plan, engine.unmet()),
    metrics: () => engineMetrics(engine.stats()),
    drain: async () => {
      await redirect?.remove();
      await engine.drain();
    },
    // Sockets end with the process; of a redirect something may be left, also of another run's.
    cleanup: async () => {
      if (redirect !== undefined) await redirect.remove();
      else await world.openRedirect?.({ log, takesOver: false }).close();
    },
    close: async () => {
      files.close();
      runner.close();
      await redirect?.close();
      await engine.close();
    },
  };
}

/** Where it does not start, a redirect stays as it was found. */
async function startEngine(
  redirect: Redirect | undefined,
  start: () => Promise<Engine>,
): Promise<Engine> {
  try {
    return await start();
  } catch (error) {
    await redirect?.leave();
    await redirect?.close();
    throw error;
  }
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

function statusOf(
  { config, notHonoured, unserved }: EnginePlan,
  unmet: readonly string[],
): BackendStatus {
  const servers = config.groups.reduce((sum, group) => sum + group.servers.length, 0);
  const summary = `${config.listeners.length} listeners, ${servers} servers`;
  return { summary, notHonoured: [...notHonoured, ...unmet], unserved };
}

/** Undefined where it is not asked for. @throws CoreError ERR_NOT_POSSIBLE_HERE */
function redirectOf(
  { redirect, provider }: ValuesOf<typeof USERSPACE_OPTIONS>,
  world: UserspaceWorld,
): UserspaceWorld["openRedirect"] {
  if (!redirect) return undefined;
  if (provider === "node")
    throw noRedirect("--provider node can not tell where a call was made to");
  if (world.openRedirect === undefined) throw noRedirect("it needs Linux and root");
  return world.openRedirect;
}

function noRedirect(why: string): CoreError {
  return new CoreError("ERR_NOT_POSSIBLE_HERE", `--redirect: ${why}; leave one of them out`);
}

function nodePortAddressesOf(text: string): NodePortAddresses {
  const addresses = parseNodePortAddresses(text);
  if (addresses !== undefined) return addresses;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `--nodeport-addresses: "${text}" is not valid; expected ${NODE_PORT_ADDRESSES_FORM}`,
  );
}
