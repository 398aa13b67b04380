import type { Family } from "../../core/model/address.ts";
import { routePolicyOf } from "../../core/route/policy-options.ts";
import { answersNodePorts } from "../../core/route/route-node.ts";
import { createDecoderSink } from "../../core/sinks/decoder.ts";
import { createFilterReset } from "../../core/sinks/filter-reset.ts";
import { createPacedSink } from "../../core/sinks/paced.ts";
import { Turns } from "../../core/turns.ts";
import type { InstanceLock } from "../../platform/linux/instance-lock.ts";
import {
  createIptablesTool,
  type IptablesMode,
} from "../../platform/linux/iptables/iptables-tool.ts";
import { removeRules } from "../../platform/linux/iptables/remove-rules.ts";
import type { NftGeneration } from "../../platform/linux/nft/nft-generation.ts";
import { LoopbackOpener } from "../../platform/linux/route-localnet.ts";
import type { Backend, BackendContext, BackendStatus } from "../backend.ts";
import { ChangeTimes } from "../change-times.ts";
import { DirectFollower } from "../direct-follower.ts";
import type { DirectKeeper } from "../direct-keeper.ts";
import type { FastKeeper } from "../fast-keeper.ts";
import { FlowKeeper } from "../flow-keeper.ts";
import { joinFailures } from "../join-failures.ts";
import { isLiberal } from "../kernel-facts.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import { isIpvsChain, isOwnedChain } from "../kube-chains.ts";
import { tellInKernel } from "../tell-in-kernel.ts";
import { ChangeWatch } from "./change-watch.ts";
import {
  type FixedSetting,
  fixedSettingOf,
  grownSetting,
  type IptablesValues,
  proxierSettingOf,
} from "./create-context.ts";
import { FamilyProxier, type SyncReport } from "./family-proxier.ts";
import type { IptablesWorld } from "./iptables-world.ts";
import { NodeRules } from "./node-rules.ts";
import { planRemoval } from "./plan/plan-removal.ts";
import { repairEvery, repairRules } from "./rule-repairer.ts";
import { SyncMetrics } from "./sync-metrics.ts";
import type { WritableFamilies } from "./writable-families.ts";

const NAME = "iptables";

/** What a backend is made from. */
export interface IptablesParts extends WritableFamilies {
  readonly options: IptablesValues;
  readonly context: BackendContext;
  readonly world: IptablesWorld;
  /** Released when the backend is closed. */
  readonly lock: InstanceLock;
  readonly mode: IptablesMode;
  readonly direct: DirectKeeper;
  readonly fast: FastKeeper;
}

/** Its sink is a decoder behind a filter of resets, with a change tracker for services and one for endpoints. */
export class IptablesBackend implements Backend {
  readonly #options: IptablesValues;
  readonly #context: BackendContext;
  readonly #world: IptablesWorld;
  readonly #lock: InstanceLock;
  readonly #mode: IptablesMode;
  readonly #writable: WritableFamilies;
  readonly #rules: NodeRules;
  readonly #metrics = new SyncMetrics();
  /** One implementation for each family; empty before `setup`. */
  #proxiers: ReadonlyMap<Family, FamilyProxier> = new Map();
  #generation: NftGeneration | undefined;
  /** Undefined before `setup`. */
  #watch: ChangeWatch | undefined;
  #fixed: FixedSetting | undefined;
  #isLiberal = false;
  /** Whether there is a state that should be in the kernel. */
  #hasState = false;
  /** Whether it was said that a first state is in the kernel. */
  #isTold = false;
  readonly #loopback: LoopbackOpener;
  /** Whether loopback addresses are to be led on. */
  #needsLoopback = false;
  readonly #flows: FlowKeeper;
  readonly #direct: DirectKeeper;
  readonly #follower: DirectFollower;
  readonly #fast: FastKeeper;
  readonly #times: ChangeTimes;
  readonly #turns = new Turns();
  readonly #stopRepairs: () => void;
  readonly sink: Backend["sink"];

  constructor({ options, context, world, lock, mode, direct, fast, ...writable }: IptablesParts) {
    this.#options = options;
    this.#context = context;
    this.#world = world;
    this.#lock = lock;
    this.#mode = mode;
    this.#direct = direct;
    this.#fast = fast;
    this.#writable = writable;
    const turns = this.#turns;
    this.#follower = new DirectFollower({ direct, turns, log: context.log, backend: NAME });
    const { clock } = world;
    this.#times = new ChangeTimes(NAME, () => clock.nowMs());
    this.#rules = new NodeRules(context.nodeName);
    this.#loopback = new LoopbackOpener(world.sysctl, context.log, NAME);
    const policy = routePolicyOf(options);
    this.#flows = new FlowKeeper(
      world.openConntrack,
      (ip) => answersNodePorts(this.#rules.node, policy.nodePortAddresses, ip),
      context.log,
      NAME,
    );
    const decoder = createDecoderSink({
      setup: () => this.#setup(),
      waitRequest: () => ({ nodeName: context.nodeName, sets: KERNEL_SETS }),
      setService: this.#rules.setService,
      deleteService: this.#rules.deleteService,
      setEndpoint: this.#rules.setEndpoint,
      deleteEndpoint: this.#rules.deleteEndpoint,
      further: this.#rules.further,
      reset: this.#rules.reset,
      sync: () => this.#turns.take(() => this.#sync()),
    });
    const filtered = createFilterReset(this.#times.watch(decoder));
    this.sink = createPacedSink(filtered, options.iptablesMinSyncPeriod, clock);
    this.#stopRepairs = repairEvery({
      clock,
      periodMs: options.iptablesSyncPeriod,
      repair: () => this.#turns.take(() => this.#repair()),
      context,
    });
  }

  status(): BackendStatus {
    const { withoutV6 } = this.#writable;
    const rules = [...this.#proxiers.values()].reduce((sum, { ruleCount }) => sum + ruleCount, 0);
    return {
      summary: `${this.#rules.serviceCount} services, ${this.#rules.endpointCount} endpoints, ${rules} rules by iptables-${this.#mode}; ${this.#direct.summary()}; ${this.#fast.summary()}`,
      notHonoured: [
        ...(withoutV6 === undefined ? [] : [`only IPv4 is served: ${withoutV6}`]),
        ...this.#rules.notHonoured(),
      ],
    };
  }

  metrics(): ReturnType<NonNullable<Backend["metrics"]>> {
    const counts = [...this.#proxiers].map(([family, one]) => [family, one.ruleCount] as const);
    return [
      ...this.#metrics.families(new Map(counts)),
      ...this.#direct.metrics(),
      ...this.#fast.metrics(),
      this.#times.metrics(),
    ];
  }

  async drain(): Promise<void> {
    await this.#turns.over();
    await this.#fast.drain();
  }

  async cleanup(): Promise<void> {
    await this.#turns.take(async () => {
      this.#hasState = false;
      this.#follower.onRemoval();
      await this.#fast.close();
      for (const proxier of this.#proxiers.values()) proxier.forget();
      const isShared = this.#world.isIpvsRunning();
      return removeRules(this.#world.exec, (actual) =>
        planRemoval(actual, (chain) => isOwnedChain(chain) && !(isShared && isIpvsChain(chain))),
      );
    });
  }

  async close(): Promise<void> {
    this.#stopRepairs();
    await this.drain();
    this.#direct.close();
    await this.#fast.close();
    this.#flows.close();
    this.#generation?.close();
    this.#generation = undefined;
    this.#lock.release();
  }

  /** May be called again, where another backend's failed: what is there stays. */
  async #setup(): Promise<void> {
    if (this.#proxiers.size > 0) return;
    const { exec, sysctl, nftTables } = this.#world;
    this.#isLiberal = await isLiberal(sysctl);
    // The kernel counts the transactions of nf_tables alone.
    if (this.#mode === "nft") this.#generation ??= this.#world.openGeneration();
    const generation = this.#generation;
    const { log } = this.#context;
    const watch = new ChangeWatch(generation && (() => generation.read()), log);
    const shared = {
      watch,
      planning: new Turns(),
      nftTables: this.#mode === "nft" ? nftTables : undefined,
      log,
    };
    this.#proxiers = new Map(
      this.#writable.families.map((family) => {
        const tool = createIptablesTool(family, this.#mode, exec);
        return [family, new FamilyProxier(tool, this.#rules, shared)];
      }),
    );
    this.#watch = watch;
    await watch.begin();
  }

  async #sync(): Promise<void> {
    this.#hasState = true;
    const changed = this.#rules.takeChanged();
    this.#flows.note(changed);
    this.#follower.onChange(changed, (key) => {
      const item = this.#rules.get(key);
      return item && { item, isRandom: true };
    });
    this.#fixed ??= fixedSettingOf(this.#options, this.#rules, this.#isLiberal);
    const fixed = grownSetting(this.#fixed, this.#rules);
    this.#fixed = fixed;
    // The few rules of IPv6 first: after many of IPv4 the kernel is busy for a while, and the tool waits.
    const results = await Promise.allSettled(
      [...this.#proxiers].reverse().map(async ([family, proxier]) => {
        const setting = proxierSettingOf(family, fixed, this.#rules);
        if (family === "v4") this.#needsLoopback = setting.guardsLoopback;
        const report = await proxier.sync(changed, setting);
        this.#metrics.synced(family, report);
        this.#tellWoken(family, report);
        // After the rules, which then keep strangers' packets out.
        if (setting.guardsLoopback) await this.#loopback.open();
      }),
    );
    const failures = results.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    if (failures.length > 0) throw joinFailures("ERR_SYNC_FAILED", failures);
    await this.#follower.onWritten();
    this.#context.onRepair?.(undefined);
    this.#tellFirstSync();
    this.#metrics.removedFlows(await this.#flows.reconcile(this.#rules));
  }

  #tellWoken(family: Family, { woken }: SyncReport): void {
    for (const line of woken) {
      this.#context.log.warn({ backend: NAME, family }, `${line}: packets meet its rules again`);
    }
  }

  #tellFirstSync(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    const { serviceCount: services, endpointCount: endpoints } = this.#rules;
    tellInKernel(NAME, { services, endpoints }, this.#context.log);
  }

  async #repair(): Promise<void> {
    const watch = this.#watch;
    if (watch === undefined) return;
    const metrics = this.#metrics;
    const { log } = this.#context;
    await repairRules({ proxiers: this.#proxiers, watch, metrics, log });
    if (this.#needsLoopback) await this.#loopback.open();
    await this.#follower.onRepaired(this.#hasState);
    if (!this.#hasState) return;
    // A sync that could not write, or could not look at them, left them as they were.
    metrics.removedFlows(await this.#flows.reconcile(this.#rules));
  }
}
