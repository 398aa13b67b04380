import { mkdir } from "node:fs/promises";
import type { Log } from "../../core/log.ts";
import { createFullStateSink, type FullState } from "../../core/sinks/fullstate.ts";
import { Turns } from "../../core/turns.ts";
import { reservedAddressesOf } from "../../edge/addresses/subnet.ts";
import { FlowFile } from "../../edge/overlay/flow-file.ts";
import {
  everywhere,
  type GuardedTunnel,
  openGuardedTunnel,
} from "../../edge/overlay/guarded-tunnel.ts";
import { tunnelKeyIn } from "../../edge/overlay/tunnel-key-file.ts";
import { publicTunnelKey } from "../../edge/tunnel/tunnel-keys.ts";
import type { TunnelStats } from "../../edge/tunnel/tunnel-messages.ts";
import { tunnelMetrics } from "../../edge/tunnel/tunnel-metrics.ts";
import { createLoopHost } from "../../net/threads/loop-host.ts";
import type { LoopThreadHost } from "../../net/threads/loop-thread.ts";
import { type InstanceLock, takeInstanceLock } from "../../platform/linux/instance-lock.ts";
import type { Backend, BackendContext, BackendStatus } from "../backend.ts";
import { type KernelClock, SYSTEM_CLOCK } from "../kernel-clock.ts";
import { limitLines } from "../limit-lines.ts";
import { EdgeKernel, TUN } from "./edge-kernel.ts";
import { type LiveServer, serveLive } from "./live-server.ts";
import { EDGE_SETS } from "./options.ts";
import { type EdgePlan, planEdge } from "./plan-edge.ts";
import { type EdgeOptions, type EdgeSettings, edgeSettingsOf } from "./settings.ts";

const NAME = "edge";
const OWNER_ONLY_FOLDER = 0o700;
const CHECK_PERIOD_MS = 10_000;

/**
 * Takes the place of the only tunnel in the network namespace; nothing is touched before the first state.
 * @throws CoreError ERR_USAGE, ERR_STATE_UNREADABLE, or ERR_NOT_POSSIBLE_HERE where another one runs
 */
export async function createEdgeBackend(
  options: EdgeOptions,
  context: BackendContext,
): Promise<Backend> {
  const settings = edgeSettingsOf(options);
  const lock = takeInstanceLock(NAME);
  try {
    if (context.isForCleanup) return new EdgeBackend({ settings, context, lock });
    await mkdir(settings.folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    const privateKey = await tunnelKeyIn(settings.folder);
    const connections = await FlowFile.open(settings.folder, context.log);
    return new EdgeBackend({ settings, context, lock, running: { privateKey, connections } });
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface EdgeParts {
  readonly settings: EdgeSettings;
  readonly context: BackendContext;
  readonly lock: InstanceLock;
  /** Missing where it only removes what is left. */
  readonly running?: { readonly privateKey: string; readonly connections: FlowFile };
  readonly clock?: KernelClock;
}

/** A tunnel that is told the services with edge addresses, and what leads into it. */
class EdgeBackend implements Backend {
  readonly sink: Backend["sink"];
  readonly #parts: EdgeParts;
  readonly #log: Log;
  readonly #kernel: EdgeKernel;
  readonly #turns = new Turns();
  readonly #publicKey: string | undefined;
  readonly #ends: (() => void)[] = [];
  #host: LoopThreadHost | undefined;
  #tunnel: { readonly of: string; readonly guarded: GuardedTunnel } | undefined;
  #live: LiveServer | undefined;
  #plan: EdgePlan | undefined;
  #stats: TunnelStats | undefined;
  #told: readonly string[] = [];
  #isClosed = false;

  constructor(parts: EdgeParts) {
    const { settings, context, running, clock = SYSTEM_CLOCK } = parts;
    const { nodeName, log } = context;
    this.#parts = parts;
    this.#log = log;
    this.#kernel = new EdgeKernel(settings);
    this.#publicKey = running && publicTunnelKey(running.privateKey);
    this.sink = createFullStateSink({
      waitRequest: () => ({ nodeName, sets: EDGE_SETS }),
      apply: (state) => this.#turns.take(() => this.#apply(state)),
    });
    if (running === undefined) return;
    const watch = this.#kernel.watch(() => this.#check());
    this.#ends.push(
      () => watch.close(),
      clock.every(CHECK_PERIOD_MS, async () => this.#check()),
    );
  }

  status(): BackendStatus {
    const { services = [], peers = [], limits = new Map() } = this.#plan ?? {};
    const instances = services.reduce((sum, { instances: { length } }) => sum + length, 0);
    const open = this.#stats?.peers.filter(({ mode }) => mode !== undefined).length;
    const sessions = open === undefined ? "" : `, ${open} with a session`;
    return {
      summary: `${services.length} services with ${instances} instances, ${peers.length} other nodes${sessions}`,
      notHonoured: limitLines(limits),
    };
  }

  metrics(): ReturnType<NonNullable<Backend["metrics"]>> {
    return this.#stats === undefined ? [] : tunnelMetrics(this.#stats);
  }

  async measure(): Promise<void> {
    this.#stats = await this.#tunnel?.guarded.tunnel.stats().catch(() => undefined);
  }

  async drain(): Promise<void> {
    await this.#turns.over();
  }

  async cleanup(): Promise<void> {
    await this.#turns.take(async () => {
      await this.#closeTunnel();
      this.#plan = undefined;
      await this.#kernel.remove();
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const end of this.#ends) end();
    await this.#turns.take(() => this.#closeTunnel());
    await this.#parts.running?.connections.close();
    this.#kernel.close();
    this.#parts.lock.release();
  }

  async #apply(state: FullState): Promise<void> {
    const { settings, context } = this.#parts;
    const { nodeName, onRepair } = context;
    const { families } = this.#kernel;
    const plan = planEdge(state, { nodeName, settings, publicKey: this.#publicKey, families });
    await this.#program(plan);
    if (this.#plan === undefined) this.#tell(plan);
    this.#plan = plan;
    this.#warn(limitLines(plan.limits));
    onRepair?.(undefined);
  }

  /** What may not pass is said before there is a way. */
  async #program(plan: EdgePlan): Promise<void> {
    await this.#kernel.writeRules(plan);
    const { tunnel } = await this.#ensureTunnel(plan);
    tunnel.apply({ services: plan.services, peers: plan.peers });
    await this.#kernel.ensureWays(plan);
  }

  /** One that was lost, or is of other networks, makes room for another. */
  async #ensureTunnel(plan: EdgePlan): Promise<GuardedTunnel> {
    const of = plan.networks.map(({ text }) => text).join(" ");
    if (this.#tunnel?.of === of && !this.#tunnel.guarded.isLost) return this.#tunnel.guarded;
    await this.#closeTunnel();
    const { settings, context, running } = this.#parts;
    const { connections, privateKey } = running ?? {};
    this.#host ??= createLoopHost(this.#log);
    const guarded = await openGuardedTunnel(
      this.#host,
      {
        node: context.nodeName,
        tunName: TUN,
        addresses: [],
        mtu: settings.mtu,
        listen: everywhere(settings.port),
        ...(privateKey !== undefined && { privateKey }),
        subnets: plan.networks.map(({ text }) => text),
        serviceRanges: settings.serviceRanges.map(({ text }) => text),
        hairpin: reservedAddressesOf(settings.serviceRanges),
        keptFlows: connections?.flows ?? [],
        onFlows: (news) => connections?.note(news),
      },
      { log: this.#log, onLost: () => this.#check() },
    );
    this.#tunnel = { of, guarded };
    this.#live = await serveLive(context.nodeName, guarded.tunnel, this.#log);
    return guarded;
  }

  async #closeTunnel(): Promise<void> {
    await this.#live?.close();
    this.#live = undefined;
    await this.#tunnel?.guarded.close();
    this.#tunnel = undefined;
  }

  /** What others changed is put right. */
  #check(): void {
    if (this.#isClosed || this.#isChecking) return;
    this.#isChecking = true;
    void this.#turns.take(async () => {
      this.#isChecking = false;
      if (this.#plan === undefined || this.#isClosed) return;
      const { onRepair, onRepairing } = this.#parts.context;
      onRepairing?.();
      try {
        await this.#program(this.#plan);
        onRepair?.(undefined);
      } catch (error) {
        this.#log.error(
          { backend: NAME, err: error },
          "what others changed could not be put right",
        );
        onRepair?.(error);
      }
    });
  }

  #isChecking = false;

  #tell({ services, peers }: EdgePlan): void {
    this.#log.info(
      { backend: NAME, services: services.length, nodes: peers.length, publicKey: this.#publicKey },
      `the tunnel is open: ${services.length} services, ${peers.length} other nodes`,
    );
  }

  #warn(lines: readonly string[]): void {
    for (const line of lines) {
      if (!this.#told.includes(line)) this.#log.warn({ backend: NAME }, line);
    }
    this.#told = lines;
  }
}
