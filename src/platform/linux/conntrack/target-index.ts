import { familyOf, WILDCARDS } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";
import type { FlowTarget } from "./flow-targets.ts";
import type { DesiredFlows } from "./is-stale.ts";

const NOBODY: ReadonlySet<string> = new Set();

/**
 * What all services want of their flows. A target that lost its last service stays known as one that
 * nobody serves until `forget`.
 */
export class TargetIndex implements DesiredFlows {
  readonly #answersNodePorts: (ip: string) => boolean;
  readonly #ofService = new Map<string, readonly FlowTarget[]>();
  /** By target, then by service: two services may claim one address where an operator allows it. */
  readonly #owners = new Map<string, Map<string, FlowTarget>>();
  readonly #changed = new Map<string, FlowTarget>();

  constructor(answersNodePorts: (ip: string) => boolean) {
    this.#answersNodePorts = answersNodePorts;
  }

  /** Says all targets of a service from now on; empty removes it. */
  replace(service: string, targets: readonly FlowTarget[]): void {
    const before = new Map<string, FlowTarget>();
    for (const target of this.#ofService.get(service) ?? []) before.set(keyOf(target), target);
    for (const target of targets) {
      const key = keyOf(target);
      const old = before.get(key);
      before.delete(key);
      if (old !== undefined && areEqual(old.endpoints, target.endpoints)) continue;
      const owners = this.#owners.get(key) ?? new Map<string, FlowTarget>();
      this.#owners.set(key, owners.set(service, target));
      this.#changed.set(key, target);
    }
    for (const [key, target] of before) {
      const owners = this.#owners.get(key);
      owners?.delete(service);
      if (owners?.size === 0) this.#owners.delete(key);
      this.#changed.set(key, target);
    }
    if (targets.length > 0) this.#ofService.set(service, targets);
    else this.#ofService.delete(service);
  }

  /** The targets that changed since the last `forget`; their endpoints are of no account. */
  changed(): readonly FlowTarget[] {
    return [...this.#changed.values()];
  }

  /** What changed was dealt with. */
  forget(): void {
    this.#changed.clear();
  }

  endpointsFor(protocol: Protocol, ip: string, port: number): ReadonlySet<string> | undefined {
    const exact = this.#at(targetKey(protocol, ip, port));
    if (exact !== undefined) return exact;
    if (!this.#answersNodePorts(ip)) return undefined;
    const atNodePort = this.#at(targetKey(protocol, "", port));
    return atNodePort ?? this.#at(targetKey(protocol, WILDCARDS[familyOf(ip)], port));
  }

  #at(key: string): ReadonlySet<string> | undefined {
    const owners = this.#owners.get(key);
    if (owners === undefined) return this.#changed.has(key) ? NOBODY : undefined;
    const [only, ...others] = owners.values();
    if (others.length === 0) return only?.endpoints;
    return new Set([...owners.values()].flatMap(({ endpoints }) => [...endpoints]));
  }
}

function keyOf({ protocol, ip, port }: FlowTarget): string {
  return targetKey(protocol, ip, port);
}

function targetKey(protocol: Protocol, ip: string, port: number): string {
  return `${protocol} ${ip} ${port}`;
}

function areEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}
