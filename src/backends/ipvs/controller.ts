import { deepEqual } from "../../core/model/equal.ts";
import { DiffStore } from "../../core/store/diff-store.ts";
import { joinFailures } from "../join-failures.ts";
import type { Proxier } from "./kernel/proxier.ts";
import { generatePatchGroups } from "./patch/generate-patch-groups.ts";
import type { Handlers } from "./patch/patch.ts";
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

  /**
   * Makes it so for the services that were replaced. Groups do not depend on each other: what is refused
   * of one is tried again by itself, and holds up no other.
   * @throws CoreError ERR_SYNC_FAILED where something is refused again
   */
  async sync(keys: Iterable<string>, beforeAddresses?: BeforeAddresses): Promise<SyncReport> {
    const touched = [...keys];
    const before = this.#accepted(touched);
    this.#services.commit();
    this.#endpoints.commit();
    const groups = generatePatchGroups(before, this.#accepted(touched));
    for (const group of groups) group.apply(this.#handlers);
    return { groups: groups.length, changes: await this.settle(beforeAddresses) };
  }

  /** Makes the kernel hold what is claimed. @returns how many changes it was told */
  async settle(beforeAddresses?: BeforeAddresses): Promise<number> {
    if (this.#isUnsure) await this.#proxier.read();
    const first = await this.#proxier.flush(beforeAddresses);
    this.#isUnsure = first.failures.length > 0;
    if (!this.#isUnsure) return first.changes;
    // Perhaps somebody else was at work: what is there is looked at before it is tried again.
    await this.#proxier.read();
    const again = await this.#proxier.flush();
    this.#isUnsure = again.failures.length > 0;
    if (this.#isUnsure) throw joinFailures("ERR_SYNC_FAILED", again.failures);
    return first.changes + again.changes;
  }

  /** Looks at the kernel anew with the next sync. */
  doubt(): void {
    this.#isUnsure = true;
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
