import { EMPTY } from "../../core/model/common.ts";
import { deepEqual } from "../../core/model/equal.ts";
import type { NodeEndpoint, NodeService } from "../../core/view/ops.ts";

/**
 * Services as they are now, and which of them differ from the last time that was asked. A change that
 * was taken back meanwhile is none.
 */
export class ServiceChangeTracker {
  readonly #services = new Map<string, NodeService>();
  /** What changed was before; undefined where it was not there. */
  readonly #before = new Map<string, NodeService | undefined>();

  get count(): number {
    return this.#services.size;
  }

  get(key: string): NodeService | undefined {
    return this.#services.get(key);
  }

  keys(): Iterable<string> {
    return this.#services.keys();
  }

  set(service: NodeService): void {
    this.#note(service.key);
    this.#services.set(service.key, service);
  }

  delete(key: string): void {
    this.#note(key);
    this.#services.delete(key);
  }

  clear(): void {
    for (const key of [...this.#services.keys()]) this.delete(key);
  }

  /** The keys of what changed since the last call. */
  takeChanged(): readonly string[] {
    const changed = [...this.#before].filter(
      ([key, before]) => !deepEqual(before, this.#services.get(key)),
    );
    this.#before.clear();
    return changed.map(([key]) => key);
  }

  #note(key: string): void {
    if (!this.#before.has(key)) this.#before.set(key, this.#services.get(key));
  }
}

type Siblings = ReadonlyMap<string, NodeEndpoint>;

/** The endpoints of services as they are now, and of which services they changed. */
export class EndpointChangeTracker {
  readonly #endpoints = new Map<string, Map<string, NodeEndpoint>>();
  readonly #before = new Map<string, Siblings>();
  /** Those that were asked for, in their order, until they change. */
  readonly #ordered = new Map<string, readonly NodeEndpoint[]>();
  #count = 0;

  /** Of all services. */
  get count(): number {
    return this.#count;
  }

  /** Those of a service, ascending by path. */
  of(service: string): readonly NodeEndpoint[] {
    const known = this.#ordered.get(service);
    if (known !== undefined) return known;
    const siblings = this.#endpoints.get(service);
    if (siblings === undefined) return EMPTY;
    const ordered = [...siblings.values()];
    if (!isAscending(ordered)) ordered.sort((a, b) => (a.path < b.path ? -1 : 1));
    this.#ordered.set(service, ordered);
    return ordered;
  }

  set(endpoint: NodeEndpoint): void {
    const siblings = this.#note(endpoint.service);
    this.#count += siblings.has(endpoint.path) ? 0 : 1;
    siblings.set(endpoint.path, endpoint);
  }

  delete(path: string, service: string): void {
    if (this.#note(service).delete(path)) this.#count -= 1;
  }

  clear(): void {
    for (const [service, endpoints] of this.#endpoints) {
      for (const path of [...endpoints.keys()]) this.delete(path, service);
    }
  }

  /** The keys of services whose endpoints changed since the last call. */
  takeChanged(): readonly string[] {
    const changed: string[] = [];
    for (const [service, before] of this.#before) {
      const now = this.#endpoints.get(service);
      if (!isSame(before, now)) changed.push(service);
      if (now?.size !== 0) continue;
      this.#endpoints.delete(service);
      this.#ordered.delete(service);
    }
    this.#before.clear();
    return changed;
  }

  #note(service: string): Map<string, NodeEndpoint> {
    this.#ordered.delete(service);
    const siblings = this.#endpoints.get(service) ?? new Map<string, NodeEndpoint>();
    this.#endpoints.set(service, siblings);
    if (!this.#before.has(service)) this.#before.set(service, new Map(siblings));
    return siblings;
  }
}

function isSame(before: Siblings, now: Siblings | undefined): boolean {
  if (before.size !== (now?.size ?? 0)) return false;
  return [...before].every(([path, endpoint]) => deepEqual(endpoint, now?.get(path)));
}

/** A whole state comes in this order. */
function isAscending(endpoints: readonly NodeEndpoint[]): boolean {
  return endpoints.every(
    ({ path }, index) => index === 0 || (endpoints[index - 1]?.path ?? "") < path,
  );
}
