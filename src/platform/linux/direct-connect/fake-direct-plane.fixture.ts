import type { DirectFrontend, DirectPlane, Place, Slot, SlotList } from "./direct-plane.ts";

/** Holds in memory what the kernel's maps would, and chooses as the program does. */
export class FakeDirectPlane implements DirectPlane {
  /** Every call, in order. */
  readonly calls: string[] = [];
  readonly frontends: Map<string, DirectFrontend> = new Map();
  readonly slots: Map<string, Slot> = new Map();
  isClosed = false;
  /** Whether its cgroup went. */
  isOrphan = false;
  /** Thrown by the next call that writes. */
  failure: Error | undefined;
  #translated = 0;
  #missed = 0;

  writeSlots(lists: readonly SlotList[]): void {
    this.#begin("writeSlots", lists.length);
    for (const { id, slots } of lists) {
      for (const [index, slot] of slots.entries()) this.slots.set(`${id} ${index}`, slot);
    }
  }

  setFrontends(frontends: readonly DirectFrontend[]): void {
    this.#begin("setFrontends", frontends.length);
    for (const frontend of frontends) this.frontends.set(textOf(frontend.place), frontend);
  }

  removeFrontends(places: readonly Place[]): void {
    this.#begin("removeFrontends", places.length);
    for (const place of places) this.frontends.delete(textOf(place));
  }

  removeSlots(lists: readonly Pick<DirectFrontend, "list" | "slotCount">[]): void {
    this.#begin("removeSlots", lists.length);
    for (const { list, slotCount } of lists) {
      for (let index = 0; index < slotCount; index += 1) this.slots.delete(`${list} ${index}`);
    }
  }

  counts(): ReturnType<DirectPlane["counts"]> {
    return { translated: this.#translated, missed: this.#missed };
  }

  isAttached(): boolean {
    return !this.isOrphan;
  }

  close(): void {
    this.isClosed = true;
  }

  /**
   * Where somebody comes to who connects: `10.244.0.1:8080`, or `rules`.
   * @param slotAt, thresholdAt the two random numbers, as parts of 1
   */
  connect(place: Place, slotAt = 0, thresholdAt = 0): string {
    const frontend = this.isClosed || this.isOrphan ? undefined : this.frontends.get(textOf(place));
    if (frontend === undefined) return "rules";
    const slot = this.slots.get(`${frontend.list} ${Math.floor(slotAt * frontend.slotCount)}`);
    if (slot === undefined) {
      this.#missed += 1;
      return "rules";
    }
    this.#translated += 1;
    return textOf(thresholdAt * 2 ** 32 < slot.threshold ? slot.first : slot.other);
  }

  #begin(call: string, count: number): void {
    if (count > 0) this.calls.push(`${call} ${count}`);
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
  }
}

function textOf({ ip, port }: Place): string {
  return `${ip}:${port}`;
}
