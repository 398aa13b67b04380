import type { ProgramsAt } from "../links/attached-links.ts";
import type { PlainLink } from "../links/ethernet-links.ts";
import { type FastFlow, idOf, type TakenFlow } from "./fast-flow.ts";
import type { FastPlane } from "./fast-plane.ts";

/** Of a flow that takes the path. */
export type FakeLease = Pick<TakenFlow, "untilNs" | "end" | "acknowledged">;

const NO_LEASE: FakeLease = { untilNs: 0n, end: 0, acknowledged: 0 };

/** Holds in memory what the kernel's maps would; no packet ever comes. */
export class FakeFastPlane implements FastPlane {
  /** What was attached, detached, removed and closed, in order. */
  readonly calls: string[] = [];
  /** All that ever were, in order. */
  readonly admitted: FastFlow[] = [];
  readonly attachedLinks: Set<PlainLink> = new Set();
  /** Names of links that have programs of others, too. */
  readonly sharedLinks: Set<string> = new Set();
  /** What is proposed next. */
  seen: FastFlow[] = [];
  passedCount = 0;
  isClosed = false;
  /** Thrown by the next call that writes. */
  failure: Error | undefined;
  readonly #taken = new Map<string, TakenFlow>();

  attach(link: PlainLink): () => void {
    this.#begin(`attach ${link.name}`);
    this.attachedLinks.add(link);
    return () => {
      this.calls.push(`detach ${link.name}`);
      this.attachedLinks.delete(link);
    };
  }

  programsAt({ link, name }: PlainLink): ProgramsAt {
    if (this.sharedLinks.has(name)) return "shared";
    return [...this.attachedLinks].some((one) => one.link === link) ? "ours" : "none";
  }

  takeSeen(): readonly FastFlow[] {
    return this.seen.splice(0);
  }

  taken(): readonly TakenFlow[] {
    return [...this.#taken.values()];
  }

  isTaken({ key }: Pick<FastFlow, "family" | "key">): boolean {
    return this.#taken.has(idOf(key));
  }

  /** Without a lease, as long as `give` does not say one; who takes the path already goes on as before. */
  admit(flow: FastFlow): void {
    this.#begin();
    this.admitted.push(flow);
    if (!this.#taken.has(idOf(flow.key))) this.give(flow);
  }

  remove(flows: readonly FastFlow[]): void {
    this.#begin(`remove ${flows.length}`);
    for (const { key } of flows) this.#taken.delete(idOf(key));
  }

  passed(): number {
    return this.passedCount;
  }

  close(): void {
    this.calls.push("close");
    this.isClosed = true;
  }

  /** It takes the path from now on, with this lease, whoever admitted it. */
  give(flow: FastFlow, lease: Partial<FakeLease> = {}): void {
    this.#taken.set(idOf(flow.key), { ...flow, ...NO_LEASE, ...lease });
  }

  #begin(call?: string): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    if (call !== undefined) this.calls.push(call);
  }
}
