import { CoreError, messageOf } from "../../core/errors.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { DiffStore } from "../../core/store/diff-store.ts";
import { joinFailures } from "../join-failures.ts";
import { createHandlers } from "./handlers/create-handlers.ts";
import { ItemRecorder, itemText } from "./kernel/items.ts";
import type { Proxier } from "./kernel/proxier.ts";
import type { ItemFailure } from "./kernel/step.ts";
import { generatePatchGroups } from "./patch/generate-patch-groups.ts";
import type { Handlers, PatchGroup } from "./patch/patch.ts";
import type {
  DesiredState,
  EndpointInfo,
  ServiceInfo,
  ServiceWithEndpoints,
} from "./plan/service-info.ts";

/** What a sync did. */
export interface SyncReport {
  /** Services with something to do. */
  readonly groups: number;
  /** Changes that the kernel was told. */
  readonly changes: number;
}

/** What the kernel refused of one service, even by itself. */
interface Refusal {
  readonly items: readonly string[];
  readonly error: CoreError;
}

interface Settled {
  readonly changes: number;
  /** What was refused now, and was not before. */
  readonly refusals: readonly Refusal[];
}

/** What is tried again by itself. */
interface Part {
  /** Key of the service; undefined where it is of none that changed. */
  readonly service: string | undefined;
  readonly items: ItemRecorder;
}

/** So many refused services are named in one message. */
const MAX_NAMED = 5;

/** Called once all is in the kernel but the addresses, which let calls in. */
export type BeforeAddresses = () => Promise<void>;

/**
 * Knows what is to be done in one family: it compares what services should be with what they were, and
 * lets the handlers do the difference. How that is done is theirs; touching the kernel is the proxier's.
 */
export class IpvsController {
  readonly #handlers: Handlers;
  readonly #proxier: Proxier;
  /** The ids of each service's infos, then the infos themselves. */
  readonly #services = new DiffStore<string, string, ServiceInfo>(deepEqual);
  readonly #endpoints = new DiffStore<string, string, EndpointInfo>(deepEqual);
  /** Whether the kernel may hold something else than is thought. */
  #isUnsure = true;
  #refusals: readonly Refusal[] = [];

  constructor(handlers: Handlers, proxier: Proxier) {
    this.#handlers = handlers;
    this.#proxier = proxier;
  }

  /** Says all infos of a service from now on; none where it is gone. */
  replace(key: string, infos: readonly ServiceWithEndpoints[]): void {
    for (const id of this.#services.accepted(key).keys()) this.#endpoints.replace(id, []);
    this.#services.replace(
      key,
      infos.map(({ service }) => [service.id, service]),
    );
    for (const { service, endpoints } of infos) this.#endpoints.replace(service.id, endpoints);
  }

  /** What the kernel refuses by now, by the service where it is known. It is told again with each sync. */
  get refused(): readonly CoreError[] {
    return this.#refusals.map(({ error }) => error);
  }

  /**
   * Makes it so for the services that were replaced. Groups do not depend on each other: those of which
   * something is refused are tried again, each by itself, and hold up no other, now or later.
   * @throws CoreError ERR_SYNC_FAILED where something of these services is refused again
   */
  async sync(keys: Iterable<string>, beforeAddresses?: BeforeAddresses): Promise<SyncReport> {
    const touched = [...keys];
    const before = this.#accepted(touched);
    this.#services.commit();
    this.#endpoints.commit();
    const groups = generatePatchGroups(before, this.#accepted(touched));
    for (const group of groups) group.apply(this.#handlers);
    const { changes, refusals } = await this.#settle(groups, beforeAddresses);
    if (refusals.length > 0) throw joinRefusals(refusals.map(({ error }) => error));
    return { groups: groups.length, changes };
  }

  /**
   * Looks at the kernel and makes it hold what is claimed.
   * @returns how many changes that took
   */
  async repair(): Promise<number> {
    this.#isUnsure = true;
    return (await this.#settle([])).changes;
  }

  /** @param groups those that are new in it */
  async #settle(
    groups: readonly PatchGroup[],
    beforeAddresses?: BeforeAddresses,
  ): Promise<Settled> {
    if (this.#isUnsure) await this.#proxier.read();
    this.#isUnsure = true;
    const first = await this.#proxier.flush({ beforeAddresses });
    const parts = this.#partsOf(groups, first.failures);
    const again = await this.#retry(parts);
    this.#isUnsure = false;
    const isStill = new Set(first.failures.map(({ item }) => itemText(item)));
    const isTried = new Set(parts.flatMap(({ items }) => items.texts()));
    const known = this.#refusals.filter(
      ({ items }) =>
        items.some((item) => isStill.has(item)) && !items.some((item) => isTried.has(item)),
    );
    this.#refusals = [...known, ...again.refusals];
    return { changes: first.changes + again.changes, refusals: again.refusals };
  }

  async #retry(parts: readonly Part[]): Promise<Settled> {
    const refusals: Refusal[] = [];
    if (parts.length === 0) return { changes: 0, refusals };
    // Perhaps somebody else was at work: what is there is looked at before it is tried again.
    await this.#proxier.read();
    let changes = 0;
    for (const { service, items } of parts) {
      const work = await this.#proxier.flush({ only: items.keys });
      changes += work.changes;
      if (work.failures.length > 0) refusals.push(refusalOf(service, work.failures));
    }
    // What else was found is put right, too.
    changes += (await this.#proxier.flush()).changes;
    return { changes, refusals };
  }

  /** What is to be tried again, each by itself: groups, and what is of none and not known to be refused. */
  #partsOf(groups: readonly PatchGroup[], failures: readonly ItemFailure[]): readonly Part[] {
    if (failures.length === 0) return [];
    const failed = new Map(failures.map(({ item }) => [itemText(item), item]));
    const left = new Map(failed);
    const parts: Part[] = [];
    for (const group of groups) {
      const items = new ItemRecorder(this.#proxier);
      group.apply(createHandlers(items));
      const own = items.texts().filter((item) => failed.has(item));
      if (own.length === 0) continue;
      for (const item of own) left.delete(item);
      parts.push({ service: group.service.service.service, items });
    }
    for (const item of this.#refusals.flatMap(({ items }) => items)) left.delete(item);
    if (left.size === 0) return parts;
    const items = new ItemRecorder(this.#proxier);
    for (const item of left.values()) items.add(item);
    return [...parts, { service: undefined, items }];
  }

  #accepted(keys: readonly string[]): DesiredState {
    const state = new Map<string, ServiceWithEndpoints>();
    for (const key of keys) {
      for (const [id, service] of this.#services.accepted(key)) {
        state.set(id, { service, endpoints: this.#endpoints.accepted(id) });
      }
    }
    return state;
  }
}

/** The first one is told: what else is refused of a service mostly follows from it. */
function refusalOf(service: string | undefined, failures: readonly ItemFailure[]): Refusal {
  const [first] = failures;
  const name = service === undefined ? "" : `${service}: `;
  const more = failures.length === 1 ? "" : `, and ${failures.length - 1} more changes`;
  return {
    items: failures.map(({ item }) => itemText(item)),
    error: new CoreError("ERR_SYNC_FAILED", `${name}${messageOf(first?.error)}${more}`, {
      cause: first?.error,
    }),
  };
}

/** One error for what several services are refused. */
export function joinRefusals(errors: readonly CoreError[]): CoreError {
  const more = errors.length - MAX_NAMED;
  const tail = more > 0 ? [new CoreError("ERR_SYNC_FAILED", `and of ${more} more services`)] : [];
  return joinFailures("ERR_SYNC_FAILED", [...errors.slice(0, MAX_NAMED), ...tail]);
}
