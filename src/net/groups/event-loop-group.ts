import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { endLoop } from "./end-loop.ts";
import { EventLoopWrapper, type GroupLoop } from "./event-loop-wrapper.ts";

/** Something that spreads over the loops of a group, such as a listener. */
export interface GroupResource<L extends GroupLoop> {
  readonly id: string;
  onLoopAdded(loop: EventLoopWrapper<L>): Promise<void> | void;
  /** The loop is in the group no longer. It still runs, unless it died; it ends after this settles. */
  onLoopRemoved(loop: EventLoopWrapper<L>): Promise<void> | void;
  onGroupClosed(): Promise<void> | void;
}

/** Loops that share work. They come and go while it runs. */
export class EventLoopGroup<L extends GroupLoop> {
  readonly name: string;
  readonly #log: Log;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #loops: EventLoopWrapper<L>[] = [];
  readonly #resources = new Map<string, GroupResource<L>>();
  #cursor = 0;
  #isClosed = false;

  constructor(options: {
    readonly name: string;
    readonly log: Log;
    readonly sleep: (ms: number) => Promise<void>;
  }) {
    this.name = options.name;
    this.#log = options.log;
    this.#sleep = options.sleep;
  }

  /** Those that run, in the order they were added. */
  loops(): readonly EventLoopWrapper<L>[] {
    return this.#loops.filter((wrapper) => wrapper.isRunning);
  }

  get(name: string): EventLoopWrapper<L> | undefined {
    return this.#loops.find((wrapper) => wrapper.name === name);
  }

  /** Settles when all that is attached uses the loop. */
  async add(loop: L): Promise<EventLoopWrapper<L>> {
    if (this.#isClosed) {
      throw new CoreError("ERR_LOOP_ENDED", `event-loop group ${this.name} is closed`);
    }
    if (this.get(loop.name) !== undefined) {
      throw new CoreError(
        "ERR_KEY_TAKEN",
        `event loop "${loop.name}" is in group "${this.name}" already; choose another name`,
      );
    }
    const wrapper = new EventLoopWrapper(loop);
    this.#loops.push(wrapper);
    void loop.ended.then(() => this.#died(wrapper));
    await this.#tell((resource) => resource.onLoopAdded(wrapper));
    return wrapper;
  }

  /** Takes a loop out. Settles when what is attached has left it; what is open on it goes on. */
  async release(name: string): Promise<EventLoopWrapper<L>> {
    const wrapper = this.get(name);
    if (wrapper === undefined) {
      throw new CoreError(
        "ERR_NOT_FOUND",
        `event loop "${name}" is not in group "${this.name}"; it has ${this.#names()}`,
      );
    }
    this.#loops.splice(this.#loops.indexOf(wrapper), 1);
    await this.#tell((resource) => resource.onLoopRemoved(wrapper));
    return wrapper;
  }

  /**
   * Takes a loop out and ends it. What is open on it may end by itself, for as long as the time-out
   * lets it.
   */
  async remove(name: string, options: { readonly drainTimeoutMs: number }): Promise<void> {
    const { loop } = await this.release(name);
    await endLoop(loop, { ...options, sleep: this.#sleep });
  }

  /** Round-robin over the loops that run; undefined where none does. */
  next(): EventLoopWrapper<L> | undefined {
    const count = this.#loops.length;
    for (let tried = 0; tried < count; tried += 1) {
      const wrapper = this.#loops[this.#cursor % count];
      this.#cursor = (this.#cursor + 1) % count;
      if (wrapper?.isRunning === true) return wrapper;
    }
    return undefined;
  }

  /** It is told of every loop, also of those that are there already. */
  async attach(resource: GroupResource<L>): Promise<void> {
    this.#resources.set(resource.id, resource);
    for (const wrapper of this.loops()) await resource.onLoopAdded(wrapper);
  }

  /** It is told of nothing any more. */
  detach(id: string): void {
    this.#resources.delete(id);
  }

  /** Lets it leave all loops, too, without closing it: for another group. */
  async leave(resource: GroupResource<L>): Promise<void> {
    this.detach(resource.id);
    for (const wrapper of this.loops()) await resource.onLoopRemoved(wrapper);
  }

  /** The ids of what is attached. */
  resources(): readonly string[] {
    return [...this.#resources.keys()];
  }

  /** Tells what is attached, and ends all loops. */
  async close(options: { readonly drainTimeoutMs: number }): Promise<void> {
    this.#isClosed = true;
    await this.#tell((resource) => resource.onGroupClosed());
    this.#resources.clear();
    const loops = this.#loops.splice(0);
    await Promise.all(loops.map(({ loop }) => endLoop(loop, { ...options, sleep: this.#sleep })));
  }

  #died(wrapper: EventLoopWrapper<L>): void {
    const index = this.#loops.indexOf(wrapper);
    if (index < 0) return;
    this.#loops.splice(index, 1);
    void this.#tell((resource) => resource.onLoopRemoved(wrapper));
  }

  /** One that fails does not keep the others from being told. */
  async #tell(what: (resource: GroupResource<L>) => Promise<void> | void): Promise<void> {
    const told = [...this.#resources.values()].map(async (resource) => {
      try {
        await what(resource);
      } catch (error) {
        this.#log.error(
          { err: error, group: this.name, resource: resource.id },
          "could not follow a change of the event loops",
        );
      }
    });
    await Promise.all(told);
  }

  #names(): string {
    const names = this.#loops.map((wrapper) => `"${wrapper.name}"`);
    return names.length === 0 ? "none" : names.join(", ");
  }
}
