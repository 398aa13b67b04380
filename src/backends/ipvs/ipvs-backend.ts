import type { Log } from "../../core/log.ts";
import { FAMILIES, type Family } from "../../core/model/address.ts";
import {
  type ChangedKeys,
  createFullStateSink,
  type FullState,
} from "../../core/sinks/fullstate.ts";
import { createPacedSink } from "../../core/sinks/paced.ts";
import type { InstanceLock } from "../../platform/linux/instance-lock.ts";
import {
  createIptablesTool,
  type IptablesMode,
} from "../../platform/linux/iptables/iptables-tool.ts";
import type { Backend, BackendContext, BackendStatus } from "../backend.ts";
import { ChangeTimes } from "../change-times.ts";
import { FlowKeeper } from "../flow-keeper.ts";
import { joinFailures } from "../join-failures.ts";
import { familiesOf } from "../kernel-facts.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import { limitLines } from "../limit-lines.ts";
import { tellInKernel } from "../tell-in-kernel.ts";
import { joinRefusals } from "./controller.ts";
import { FamilyPlane } from "./family-plane.ts";
import { GlueKeeper } from "./glue/glue-keeper.ts";
import { setsOf } from "./glue/set-names.ts";
import { IpvsMetrics } from "./ipvs-metrics.ts";
import type { IpvsPlatform } from "./kernel/platform.ts";
import { prepareKernel } from "./kernel/prepare-kernel.ts";
import { removeAll } from "./remove-all.ts";
import { type PlannedChange, ServicePlanner } from "./service-planner.ts";
import type { IpvsSettings } from "./settings.ts";
import { TrafficCounts } from "./traffic-counts.ts";
import type { IpvsWorld } from "./world.ts";

const NAME = "ipvs";

export interface IpvsParts {
  readonly settings: IpvsSettings;
  readonly minSyncPeriodMs: number;
  readonly context: BackendContext;
  readonly world: IpvsWorld;
  readonly platform: IpvsPlatform;
  /** Released when the backend is closed. */
  readonly lock: InstanceLock;
  readonly mode: IptablesMode;
}

/** Its sink is of the full state; a plane for each family makes it true. */
export class IpvsBackend implements Backend {
  readonly sink: Backend["sink"];
  readonly #parts: IpvsParts;
  readonly #log: Log;
  readonly #flows: FlowKeeper;
  readonly #times: ChangeTimes;
  readonly #metrics = new IpvsMetrics();
  readonly #stopChecks: () => void;
  readonly #traffic = new TrafficCounts((mark) => this.#planner.marks.bothOf(mark));
  #planner: ServicePlanner;
  #planes: readonly FamilyPlane[] = [];
  /** What the kernel should hold; undefined before the first state, and once all was removed. */
  #state: FullState | undefined;
  #told: readonly string[] = [];
  #isTold = false;

  constructor(parts: IpvsParts) {
    const { settings, context, world, minSyncPeriodMs } = parts;
    const { nodeName, log } = context;
    this.#parts = parts;
    this.#log = log;
    this.#planner = new ServicePlanner(settings, nodeName, FAMILIES);
    this.#flows = new FlowKeeper(
      world.openConntrack,
      (ip) => this.#planner.answersNodePorts(ip),
      log,
      NAME,
    );
    this.#times = new ChangeTimes(NAME, () => world.clock.nowMs());
    this.#stopChecks = world.clock.every(settings.checkPeriodMs, () => this.#check());
    const sink = createFullStateSink({
      waitRequest: () => ({ nodeName, sets: KERNEL_SETS }),
      apply: (state, changed) => this.#apply(state, changed),
    });
    this.sink = createPacedSink(this.#times.watch(sink), minSyncPeriodMs, world.clock);
  }

  status(): BackendStatus {
    const counts = this.#planes.map(({ proxier }) => proxier.counts);
    const sum = (of: (one: (typeof counts)[number]) => number) =>
      counts.reduce((total, one) => total + of(one), 0);
    const draining = sum((one) => one.draining);
    const rest = draining === 0 ? "" : `, ${draining} endpoints that end their connections`;
    return {
      summary: `${sum(({ servers }) => servers)} virtual servers, ${sum(({ destinations }) => destinations)} real ones${rest}`,
      notHonoured: limitLines(this.#planner.limits()),
    };
  }

  metrics(): ReturnType<NonNullable<Backend["metrics"]>> {
    const counts = this.#planes.map(({ family, proxier }) => [family, proxier.counts] as const);
    return [...this.#metrics.families(counts), ...this.#traffic.families(), this.#times.metrics()];
  }

  async measure(): Promise<void> {
    if (this.#planes.length === 0) return;
    try {
      this.#traffic.observe(await this.#parts.platform.ipvs.servers());
    } catch (error) {
      this.#log.warn({ backend: NAME, err: error }, "what IPVS counted could not be read");
    }
  }

  async drain(): Promise<void> {
    await Promise.all(this.#planes.map((plane) => plane.over()));
  }

  async cleanup(): Promise<void> {
    await this.drain();
    const { world, platform, settings } = this.#parts;
    this.#planes = [];
    this.#state = undefined;
    await removeAll({ world, platform, settings, log: this.#log });
  }

  async close(): Promise<void> {
    this.#stopChecks();
    await this.drain();
    this.#flows.close();
    const { platform, lock } = this.#parts;
    platform.ipvs.close();
    platform.sets.close();
    platform.link.close();
    lock.release();
  }

  async #apply(state: FullState, changed: ChangedKeys): Promise<void> {
    if (this.#planes.length === 0) await this.#open();
    const changes = this.#planner.plan(state, changed);
    this.#state = state;
    this.#followTraffic([...changes.values()]);
    const failures: unknown[] = [];
    await Promise.all(
      this.#planes.map(async (plane) => {
        const change = changes.get(plane.family);
        if (change === undefined) return;
        try {
          this.#metrics.synced(plane.family, await plane.sync(change));
        } catch (error) {
          failures.push(error);
        }
      }),
    );
    this.#flows.note([...changed.services, ...this.#planner.takeMoved()]);
    if (failures.length > 0) throw joinFailures("ERR_SYNC_FAILED", failures);
    this.#tellRefused();
    this.#tell(state);
    await this.#releaseFlows();
  }

  /** Also of services whose sync could not write, and what could not be looked at before. */
  async #releaseFlows(): Promise<void> {
    const state = this.#state;
    if (state === undefined) return;
    const lookup = {
      get: (key: string) => state.services.get(key),
      listenersOf: (key: string) => this.#planner.listenersOf(key, state),
    };
    this.#metrics.removedFlows(await this.#flows.reconcile(lookup));
  }

  /** A service has virtual servers of both families. */
  #followTraffic(changes: readonly PlannedChange[]): void {
    for (const key of new Set(changes.flatMap(({ services }) => [...services.keys()]))) {
      this.#traffic.replace(
        key,
        changes.flatMap(({ services }) => services.get(key) ?? []),
      );
    }
  }

  /** Settings, the link and the sets, before the first state. */
  async #open(): Promise<void> {
    const { world, platform, settings, context, mode } = this.#parts;
    const { log, nodeName } = context;
    const families = await this.#familiesHere();
    const { sysctl } = world;
    const sets = families.map(setsOf);
    await prepareKernel({ platform, sysctl, families: sets, settings, log });
    const planner = new ServicePlanner(settings, nodeName, families);
    this.#planner = planner;
    this.#planes = families.map((family) => {
      const names = setsOf(family);
      const glue = new GlueKeeper(createIptablesTool(family, mode, world.exec), names);
      const { marks } = planner;
      return new FamilyPlane({ family, platform, sets: names, glue, marks, settings, log });
    });
  }

  async #familiesHere(): Promise<readonly Family[]> {
    const families = await familiesOf(this.#parts.world.sysctl);
    if (!families.includes("v6")) {
      this.#log.warn({ backend: NAME }, "this kernel has no IPv6: only IPv4 is served");
    }
    return families;
  }

  #tell({ services }: FullState): void {
    if (!this.#isTold) {
      let endpoints = 0;
      for (const service of services.values()) endpoints += service.endpoints.length;
      tellInKernel(NAME, { services: services.size, endpoints }, this.#log);
    }
    this.#isTold = true;
    const lines = limitLines(this.#planner.limits());
    for (const line of lines) {
      if (!this.#told.includes(line)) this.#log.warn({ backend: NAME }, line);
    }
    this.#told = lines;
  }

  /** What the kernel refuses of some services is in the status until it is made so, or no longer asked. */
  #tellRefused(): void {
    const refused = this.#planes.flatMap((plane) => plane.refused);
    const { onRepair } = this.#parts.context;
    onRepair?.(refused.length === 0 ? undefined : joinRefusals(refused));
  }

  async #check(): Promise<void> {
    this.#parts.context.onRepairing?.();
    const failures: unknown[] = [];
    for (const plane of this.#planes) {
      try {
        if ((await plane.repair()) > 0) this.#metrics.repaired();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length === 0) {
      this.#tellRefused();
      return this.#releaseFlows();
    }
    const error = joinFailures("ERR_SYNC_FAILED", failures);
    this.#log.error(
      { backend: NAME, err: error },
      "what others changed in the kernel could not be put right",
    );
    this.#parts.context.onRepair?.(error);
  }
}
