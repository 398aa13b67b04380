import type { Group } from "../../core/model/group.ts";
import type { Listener } from "../../core/model/listener.ts";
import type { Node } from "../../core/model/node.ts";
import type { RouteNode } from "../../core/route/route-node.ts";
import type { Decoder, SetHandler } from "../../core/sinks/decoder.ts";
import type { ServiceEndpoints } from "../../core/sinks/fullstate.ts";
import type { PlanContext } from "../plan-context.ts";
import { EndpointChangeTracker, ServiceChangeTracker } from "./change-tracker.ts";
import type { RulesSource } from "./family-proxier.ts";
import { Limits } from "./limits.ts";
import { ListenerTracker } from "./listener-tracker.ts";
import type { GroupRules } from "./plan/group-rules.ts";
import { Networks } from "./plan/network-chains.ts";
import { planBase } from "./plan/plan-base.ts";
import { planService } from "./plan/plan-service.ts";

type Told = Pick<
  Decoder,
  "setService" | "deleteService" | "setEndpoint" | "deleteEndpoint" | "reset" | "further"
>;

/** What this node was told, from which the rules of both families are made. */
export class NodeRules implements RulesSource, Told {
  readonly #nodeName: string;
  readonly #services = new ServiceChangeTracker();
  readonly #endpoints = new EndpointChangeTracker();
  readonly #listeners: ListenerTracker;
  readonly #groups = new Map<string, Group>();
  readonly #limits = new Limits();
  readonly #networks = new Networks();
  #node: Node | undefined;

  constructor(nodeName: string) {
    this.#nodeName = nodeName;
    this.#listeners = new ListenerTracker(nodeName);
  }

  setService: Told["setService"] = (service) => this.#services.set(service);

  deleteService: Told["deleteService"] = (key) => this.#services.delete(key);

  setEndpoint: Told["setEndpoint"] = (endpoint) => this.#endpoints.set(endpoint);

  deleteEndpoint: Told["deleteEndpoint"] = (path, service) => this.#endpoints.delete(path, service);

  reset = (): void => {
    this.#services.clear();
    this.#endpoints.clear();
    this.#listeners.clear();
    this.#groups.clear();
    this.#node = undefined;
  };

  get further(): NonNullable<Decoder["further"]> {
    return {
      listeners: this.#listeners.listeners,
      "security-groups": this.#listeners.securityGroups,
      groups: this.#groupHandler,
      nodes: this.#nodeHandler,
    };
  }

  /** The keys of services whose rules may have changed since the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = new Set([
      ...this.#services.takeChanged(),
      ...this.#endpoints.takeChanged(),
      ...this.#listeners.takeChanged(),
    ]);
    for (const key of changed) this.#limits.update(key, this.get(key));
    return changed;
  }

  /** A service with its endpoints. */
  get(key: string): ServiceEndpoints | undefined {
    const service = this.#services.get(key);
    return service && { service, endpoints: this.#endpoints.of(key) };
  }

  /** Those of this node that lead to a service. */
  listenersOf(key: string): readonly Listener[] {
    return this.#listeners.plansFor(key).listeners;
  }

  get serviceCount(): number {
    return this.#services.count;
  }

  get endpointCount(): number {
    return this.#endpoints.count;
  }

  get node(): RouteNode {
    const { zone = "", addresses = [], subnets = [] } = this.#node ?? {};
    return { name: this.#nodeName, zone, addresses, subnets };
  }

  get answersOnLoopback(): boolean {
    return this.#listeners.answersOnLoopback;
  }

  /** What rules can not do of what is asked of them now, one line for each reason. */
  notHonoured(): readonly string[] {
    return this.#limits.lines({
      unknownNode: this.#node === undefined ? this.#nodeName : undefined,
      listeners: this.#listeners.unserved(),
      groups: [...this.#groups.values()],
    });
  }

  groups(): Iterable<string> {
    return new Set([...this.#services.keys(), ...this.#listeners.services()]);
  }

  base(context: PlanContext): GroupRules {
    return planBase(context);
  }

  rulesOf(key: string, context: PlanContext): GroupRules {
    const networks = this.#networks;
    return planService(this.get(key), this.#listeners.plansFor(key), { ...context, networks });
  }

  readonly #groupHandler: SetHandler<Group> = {
    set: (path, group) => void this.#groups.set(path, group),
    delete: (path) => void this.#groups.delete(path),
  };

  readonly #nodeHandler: SetHandler<Node> = {
    set: (path, node) => {
      if (path === this.#nodeName) this.#node = node;
    },
    delete: (path) => {
      if (path === this.#nodeName) this.#node = undefined;
    },
  };
}
