import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { familyOf } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";
import { deepEqual } from "../../core/model/equal.ts";
import type { ChangedKeys, FullState, ServiceEndpoints } from "../../core/sinks/fullstate.ts";
import type { Hcn } from "../../platform/windows/hcn.ts";
import { failureOf } from "../../platform/windows/hcn-failure.ts";
import type { Network } from "../../platform/windows/network.ts";
import { joinFailures } from "../join-failures.ts";
import { localIpsOf, planServiceObjects } from "./plan/add-service-objects.ts";
import { familiesOf, type HcnContext, isOverlay } from "./plan/hcn-context.ts";
import { sourceVipId } from "./plan/object-ids.ts";
import type { ServiceObjects } from "./plan/service-objects.ts";
import { ensureSourceVip, type HcnReading, preRun } from "./pre-run.ts";
import { programHostComputeObjects } from "./program-objects.ts";
import { removeOwnLoadBalancers } from "./remove-own.ts";
import type { HcnSettings } from "./settings.ts";
import { createStores, type HcnStores } from "./stores.ts";

export interface HcnSyncOptions {
  readonly hcn: Hcn;
  readonly settings: HcnSettings;
  readonly nodeName: string;
  /** Of the interface that has the address, `00-15-5D-01-02-03`; undefined where none has. */
  readonly macOf: (ip: string) => string | undefined;
  readonly log: Log;
}

/** So many refusals stand in an error; the log has them all. */
const MAX_TOLD = 3;

/** After these, what was known of HNS is not trusted any more. */
const STALE_KINDS: ReadonlySet<string | undefined> = new Set([
  "service-down",
  "network-not-found",
  "endpoint-not-found",
]);

/** Makes HNS hold what a node's services need. Calls must not overlap. */
export class HcnSync {
  readonly stores: HcnStores = createStores();
  readonly #options: HcnSyncOptions;
  readonly #services = new Map<string, ServiceEndpoints>();
  /** What was planned of services for which something is missing or can not be done. */
  readonly #wanting = new Map<string, ServiceObjects>();
  #nodeAddresses: readonly string[] = EMPTY;
  /** Undefined where HNS has to be read (anew). */
  #reading: HcnReading | undefined;
  #context: HcnContext | undefined;
  #isLost = false;
  #repairs = 0;

  constructor(options: HcnSyncOptions) {
    this.#options = options;
  }

  /** What HNS was last seen to be; undefined where that is not known. */
  get reading(): HcnReading | undefined {
    return this.#reading;
  }

  /** How often others had changed what is ours. */
  get repairs(): number {
    return this.#repairs;
  }

  /** What can not be done, by service. */
  limits(): ReadonlyMap<string, readonly string[]> {
    const limits = new Map<string, readonly string[]>();
    for (const [key, objects] of this.#wanting) {
      const missing = [...objects.missing].map((ip) => `no endpoint on this node has ${ip}`);
      limits.set(key, [...objects.limits, ...missing]);
    }
    return limits;
  }

  /** The callback: takes over the whole state, of which only what changed is worked on. */
  async apply(state: FullState, changed: ChangedKeys): Promise<void> {
    for (const key of changed.services) this.#take(key, state.services.get(key));
    const addresses = state.further.nodes.get(this.#options.nodeName)?.addresses ?? EMPTY;
    const hasMoved = !deepEqual(addresses, this.#nodeAddresses);
    this.#nodeAddresses = addresses;
    if (hasMoved) this.#context = undefined;
    await this.#sync(changed.services);
  }

  /** HNS restarted, or the network came or went: all is read again at the next sync or check. */
  distrust(): void {
    this.#reading = undefined;
  }

  /** Looks whether the network is as it was, and tries what could not be done. */
  async check(): Promise<void> {
    const { hcn } = this.#options;
    const reading = this.#reading;
    if (reading !== undefined) {
      const network = await this.#orDistrust(() => hcn.network(reading.network.id));
      if (network === undefined) this.distrust();
      else this.#renew(network);
    }
    const pending = [...this.#wanting].filter(
      ([, { missing, unrouted }]) => missing.size + unrouted.size > 0,
    );
    await this.#sync(new Set(pending.map(([key]) => key)));
  }

  /** The same, and looks for what others removed or made anew. */
  async fullCheck(): Promise<void> {
    const { hcn, log, settings } = this.#options;
    const reading = this.#reading;
    if (reading !== undefined) {
      const { endpointStore, loadBalancerStore } = this.stores;
      const gone = await this.#orDistrust(async () => {
        const ids = new Set(await hcn.endpointIds());
        const endpoints = endpointStore.missingFrom(ids);
        const { network, locals } = reading;
        const hasMoved = await locals.read(hcn, ids);
        const needsVip =
          isOverlay(network) && !ids.has(sourceVipId(network.id, settings.sourceVip));
        // Whoever opens it anew sees to it that it is there, and plans with the endpoints that there are.
        if (needsVip || hasMoved) this.#context = undefined;
        const balancers = loadBalancerStore.missingFrom(new Set(await hcn.loadBalancerIds()));
        return endpoints + balancers;
      });
      if (gone > 0) {
        this.#repairs += 1;
        log.warn({ objects: gone }, `others removed ${gone} objects of ours, which are made anew`);
      }
    }
    await this.check();
  }

  /** Everything was removed: what is wanted is made anew at the next sync. */
  forget(): void {
    this.stores.endpointStore.adopt(new Map());
    this.stores.loadBalancerStore.adopt(new Map());
    this.distrust();
  }

  #take(key: string, entry: ServiceEndpoints | undefined): void {
    const before = this.#services.get(key);
    const still = entry === undefined ? new Set<string>() : localIpsOf(entry);
    for (const ip of before === undefined ? [] : localIpsOf(before)) {
      if (!still.has(ip)) this.#reading?.locals.drop(ip);
    }
    if (entry !== undefined) {
      this.#services.set(key, entry);
      return;
    }
    this.#services.delete(key);
    this.#wanting.delete(key);
    // Nothing has to be known of HNS for that: also what is made anew after a failure is without it.
    this.stores.endpointStore.replace(key, new Map());
    this.stores.loadBalancerStore.replace(key, new Map());
  }

  async #sync(keys: ReadonlySet<string>): Promise<void> {
    const { hcn, log } = this.#options;
    await this.#orDistrust(async () => {
      const { reading, context, isNew } = await this.#open();
      await this.#plan(isNew ? this.#services.keys() : keys, reading, context);
      const canModify = reading.features.modifyLoadBalancer;
      const failures = await programHostComputeObjects({ hcn, stores: this.stores, canModify });
      if (failures.length === 0) return;
      if (failures.some((error) => STALE_KINDS.has(failureOf(error)?.kind))) this.distrust();
      for (const error of failures) log.debug({ err: error }, "HNS refused an object");
      throw joinFailures("ERR_SYNC_FAILED", failures.slice(0, MAX_TOLD));
    });
  }

  /** Who does not answer may have restarted, and forgotten everything. */
  async #orDistrust<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (STALE_KINDS.has(failureOf(error)?.kind)) this.distrust();
      throw error;
    }
  }

  async #open(): Promise<{
    readonly reading: HcnReading;
    readonly context: HcnContext;
    /** All services have to be planned anew. */
    readonly isNew: boolean;
  }> {
    const known = this.#reading;
    if (known !== undefined && this.#context !== undefined) {
      return { reading: known, context: this.#context, isNew: false };
    }
    const reading = known ?? (await this.#read());
    const context = this.#contextOf(reading);
    const { sourceVip, hostMac } = context;
    await ensureSourceVip(this.#options.hcn, reading, { sourceVip, hostMac });
    this.#reading = reading;
    this.#context = context;
    return { reading, context, isNew: true };
  }

  async #read(): Promise<HcnReading> {
    const { hcn, settings } = this.#options;
    const reading = await preRun(hcn, settings);
    if (reading === undefined) {
      // Nobody is behind them any more.
      if (!this.#isLost) await removeOwnLoadBalancers(hcn);
      this.#isLost = true;
      throw new CoreError(
        "ERR_NOT_FOUND",
        `there is no HCN network "${settings.networkName}"; it is waited for`,
      );
    }
    this.#isLost = false;
    this.stores.endpointStore.adopt(reading.endpoints);
    this.stores.loadBalancerStore.adopt(reading.loadBalancers);
    this.#context = undefined;
    return reading;
  }

  #contextOf(reading: HcnReading): HcnContext {
    const { settings, macOf } = this.#options;
    const { network, features, locals } = reading;
    const own = settings.nodeIp === "" ? [] : [settings.nodeIp];
    const others = this.#nodeAddresses.filter((ip) => !own.includes(ip));
    const nodeIps = [...own, ...others];
    const nodeIp = nodeIps.find((ip) => familyOf(ip) === "v4");
    const context = {
      network,
      features,
      families: familiesOf(network, features),
      nodeIps,
      hostMac: "",
      sourceVip: settings.sourceVip,
      isDsrEnabled: settings.isDsrEnabled,
      localEndpoints: locals.byAddress,
    };
    if (!isOverlay(network)) return context;
    if (nodeIp === undefined) {
      throw new CoreError(
        "ERR_CONFIG_INVALID",
        `--node-ip: missing; the network "${network.name}" is an overlay and the state has no Node "${this.#options.nodeName}" with an IPv4 address: expected the node's own address`,
      );
    }
    const hostMac = macOf(nodeIp);
    if (hostMac !== undefined) return { ...context, hostMac };
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `no interface of this machine has ${nodeIp}; expected an address of its own: --node-ip`,
    );
  }

  /** The network was read again; all is planned anew where it changed. */
  #renew(network: Network): boolean {
    const reading = this.#reading;
    if (reading === undefined || deepEqual(network, reading.network)) return false;
    this.#reading = { ...reading, network };
    this.#context = undefined;
    return true;
  }

  async #plan(keys: Iterable<string>, reading: HcnReading, context: HcnContext): Promise<void> {
    const wanting = this.#planOnce(keys, context);
    const { hcn } = this.#options;
    const hasMissing = wanting.some(({ missing }) => missing.size > 0);
    if (hasMissing && (await reading.locals.read(hcn, await hcn.endpointIds()))) {
      this.#planOnce(
        wanting.map(({ key }) => key),
        context,
      );
    }
    if (!wanting.some(({ unrouted }) => unrouted.size > 0)) return;
    const network = await hcn.network(context.network.id);
    if (network === undefined || !this.#renew(network)) return;
    const next = this.#contextOf({ ...reading, network });
    this.#context = next;
    this.#planOnce(this.#services.keys(), next);
  }

  /** @returns those for which something is not there */
  #planOnce(
    keys: Iterable<string>,
    context: HcnContext,
  ): readonly {
    readonly key: string;
    readonly missing: Set<string>;
    readonly unrouted: Set<string>;
  }[] {
    const { endpointStore, loadBalancerStore } = this.stores;
    const wanting: { key: string; missing: Set<string>; unrouted: Set<string> }[] = [];
    for (const key of keys) {
      const entry = this.#services.get(key);
      if (entry === undefined) continue;
      const objects = planServiceObjects(entry, context);
      const { missing, unrouted, limits } = objects;
      endpointStore.replace(key, objects.endpoints);
      loadBalancerStore.replace(key, objects.loadBalancers);
      this.#wanting.delete(key);
      if (missing.size + unrouted.size + limits.size > 0) this.#wanting.set(key, objects);
      if (missing.size + unrouted.size > 0) wanting.push({ key, missing, unrouted });
    }
    return wanting;
  }
}
