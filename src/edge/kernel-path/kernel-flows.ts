import type { FlowPlace, FlowPlan } from "../flows/flow.ts";
import type { FlowMirror } from "../flows/flow-mirror.ts";
import { LOCAL, type RoutePeer, type Target } from "../flows/packet-router.ts";
import { flowKey, flowValue, lastUsedNsIn, numberBytes } from "./entries.ts";
import type { KernelMap } from "./kernel-maps.ts";

const NS_PER_MS = 1_000_000;

export interface KernelFlowsOptions<P extends RoutePeer> {
  readonly flows: KernelMap;
  readonly places: KernelMap;
  /** By which a peer is known in maps. */
  readonly numberOf: (peer: P) => number;
  /** Since the machine started. */
  readonly nowNs: () => number;
  /** Of the clock that flows are told by. */
  readonly nowMs: () => number;
}

/** The flows of a tunnel in the maps of the kernel path: all of them, and where they lead to. */
export class KernelFlows<P extends RoutePeer> implements FlowMirror<Target<P>> {
  readonly #options: KernelFlowsOptions<P>;
  /** What the numbers of places mean; those that are gone are not there. */
  readonly #places = new Map<number, FlowPlace<Target<P>>>();

  constructor(options: KernelFlowsOptions<P>) {
    this.#options = options;
  }

  added(plan: FlowPlan, number: number, place: FlowPlace<Target<P>>): void {
    this.#setPlace(number, place);
    this.setOpen(plan, number, false);
  }

  setOpen(
    { protocol, asked, sent, answered, returned }: FlowPlan,
    place: number,
    isOpen: boolean,
  ): void {
    const { flows } = this.#options;
    const facts = { isOpen, place };
    flows.set(flowKey(protocol, answered), flowValue({ ...facts, to: returned, isBack: true }));
    flows.set(flowKey(protocol, asked), flowValue({ ...facts, to: sent, isBack: false }));
  }

  removed({ protocol, asked, answered }: FlowPlan): void {
    const { flows } = this.#options;
    flows.delete(flowKey(protocol, asked));
    flows.delete(flowKey(protocol, answered));
  }

  lastUsedMs({ protocol, asked, answered }: FlowPlan): number {
    const { flows, nowNs, nowMs } = this.#options;
    const times = [asked, answered].map((from) => {
      const value = flows.get(flowKey(protocol, from));
      return value === undefined ? 0 : Number(lastUsedNsIn(value));
    });
    const last = Math.max(...times);
    return last === 0 ? Number.NEGATIVE_INFINITY : nowMs() - (nowNs() - last) / NS_PER_MS;
  }

  /** Instances or peers may be gone: what goes there is left to the tunnel, which gives it to another one. */
  review(): void {
    for (const [number, place] of this.#places) {
      if (!isGone(place)) continue;
      this.#options.places.delete(numberBytes(number));
      this.#places.delete(number);
    }
  }

  #setPlace(number: number, place: FlowPlace<Target<P>>): void {
    const there = this.#places.get(number);
    if (there?.instance === place.instance && there.target === place.target) return;
    const { places, numberOf } = this.#options;
    this.#places.set(number, { instance: place.instance, target: place.target });
    const { target } = place;
    if (target === LOCAL) places.delete(numberBytes(number));
    else places.set(numberBytes(number), numberBytes(numberOf(target)));
  }
}

function isGone({ instance, target }: FlowPlace<Target<RoutePeer>>): boolean {
  return instance.isGone || (target !== LOCAL && target.isGone);
}
