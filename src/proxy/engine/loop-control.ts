import { CoreError } from "../../core/errors.ts";
import type { ChannelEntry } from "../../net/selector-event-loop.ts";
import { threadCpuSeconds } from "../../platform/linux/thread-cpu.ts";
import { DEFAULT_GROUP, type Fleet } from "./fleet.ts";

/** A loop, and how many channels of each kind are open in it now. */
export interface LoopEntry {
  readonly name: string;
  readonly channels: Readonly<Record<ChannelEntry["kind"], number>>;
  /** CPU time so far; missing where it has no thread of its own, or the system does not say. */
  readonly cpuSeconds?: number;
}

export interface LoopGroupEntry {
  readonly name: string;
  readonly loops: readonly LoopEntry[];
}

export interface LoopGroupNames {
  readonly name: string;
  readonly loops: readonly string[];
  /** Whether it is there from the start, and stays. */
  readonly isDefault: boolean;
}

/** What takes no more clients. */
export interface Retired {
  /** Settles when it has ended. */
  readonly ended: Promise<void>;
}

/** The loops of an engine, which come and go while it runs. */
export interface EngineLoops {
  /** All groups with the names of their loops, apart from loops that are being ended. */
  groups(): readonly LoopGroupNames[];
  /**
   * Starts a loop in a group, the default one where none is named; settles with its name when it serves.
   * @param name any that is free, where none is wished for
   */
  add(group?: string, name?: string): Promise<string>;
  /**
   * Ends a loop: others accept in its place at once, and its connections may end by themselves until
   * the drain time-out. Settles when it has ended.
   */
  remove(name: string): Promise<void>;
  /** The same; settles as soon as others accept in its place, with the promise of its end. */
  retire(name: string): Promise<Retired>;
  /** A group without loops; listeners that name it use it as soon as it has one. */
  addGroup(name: string): Promise<void>;
  /** Ends its loops, too; listeners that name it use the default one. */
  removeGroup(name: string): Promise<void>;
  /** The same; settles as soon as others accept in their place, with the promise of their end. */
  retireGroup(name: string): Promise<Retired>;
  /** All groups with their loops, apart from loops that are being ended. */
  list(): Promise<readonly LoopGroupEntry[]>;
  /** A CPU profile of a loop, as `.cpuprofile` holds it. */
  profile(name: string, durationMs: number): Promise<string>;
}

export interface LoopControlOptions {
  /** Throws where the engine is closed. */
  readonly fleet: () => Fleet;
  /** One change of the engine at a time. */
  readonly inTurn: <T>(task: () => Promise<T>) => Promise<T>;
  /** Leads all listeners to the loops that there are. */
  readonly update: () => Promise<unknown>;
  readonly drainTimeoutMs: number;
}

const NAME_FORM = /^[A-Za-z][\w.-]{0,62}$/;

export class LoopControl implements EngineLoops {
  readonly #options: LoopControlOptions;

  constructor(options: LoopControlOptions) {
    this.#options = options;
  }

  groups(): readonly LoopGroupNames[] {
    return this.#fleet.groups().map(({ name, loops }) => ({
      name,
      loops: loops.map((loop) => loop.name),
      isDefault: name === DEFAULT_GROUP,
    }));
  }

  async add(group: string = DEFAULT_GROUP, name?: string): Promise<string> {
    if (name !== undefined) refuseForm("event loop", name);
    return this.#fleet.addLoop(group, name);
  }

  async remove(name: string): Promise<void> {
    await (await this.retire(name)).ended;
  }

  async retire(name: string): Promise<Retired> {
    await this.#options.inTurn(async () => {
      this.#refuseLast(name);
      await this.#fleet.retireLoop(name);
      await this.#options.update();
    });
    return { ended: this.#end([name]) };
  }

  addGroup(name: string): Promise<void> {
    return this.#options.inTurn(async () => {
      refuseForm("loop group", name);
      if (this.#loopsIn(name) !== undefined) {
        throw new CoreError(
          "ERR_KEY_TAKEN",
          `loop group "${name}" is there already; choose another name`,
        );
      }
      this.#fleet.addGroup(name);
    });
  }

  async removeGroup(name: string): Promise<void> {
    await (await this.retireGroup(name)).ended;
  }

  async retireGroup(name: string): Promise<Retired> {
    const loops = await this.#options.inTurn(async () => {
      const names = this.#loopsIn(name);
      if (names === undefined || name === DEFAULT_GROUP) throw this.#noSuchGroup(name);
      for (const loop of names) await this.#fleet.retireLoop(loop);
      await this.#options.update();
      await this.#fleet.dropGroup(name);
      return names;
    });
    return { ended: this.#end(loops) };
  }

  async list(): Promise<readonly LoopGroupEntry[]> {
    const threads = new Map(this.#fleet.stats().map(({ name, threadId }) => [name, threadId]));
    return Promise.all(
      this.#fleet.groups().map(async ({ name, loops }) => {
        const entries = loops.map((loop) =>
          loop.channels().then(
            (channels) => [
              {
                name: loop.name,
                channels: countKinds(channels),
                ...cpuOf(threads.get(loop.name) ?? 0),
              },
            ],
            // It has ended by now.
            () => [],
          ),
        );
        return { name, loops: (await Promise.all(entries)).flat() };
      }),
    );
  }

  async profile(name: string, durationMs: number): Promise<string> {
    return this.#fleet.profile(name, durationMs);
  }

  get #fleet(): Fleet {
    return this.#options.fleet();
  }

  async #end(loops: readonly string[]): Promise<void> {
    const { drainTimeoutMs } = this.#options;
    await Promise.all(loops.map((loop) => this.#fleet.endLoop(loop, drainTimeoutMs)));
  }

  #loopsIn(group: string): readonly string[] | undefined {
    const found = this.#fleet.groups().find(({ name }) => name === group);
    return found?.loops.map(({ name }) => name);
  }

  /** Somebody has to serve those who name no group. */
  #refuseLast(name: string): void {
    const loops = this.#loopsIn(DEFAULT_GROUP) ?? [];
    if (loops.length > 1 || loops[0] !== name) return;
    throw new CoreError(
      "ERR_USAGE",
      `event loop "${name}" is the last one of group "${DEFAULT_GROUP}"; add another one first`,
    );
  }

  #noSuchGroup(name: string): CoreError {
    if (name === DEFAULT_GROUP) {
      return new CoreError("ERR_USAGE", `loop group "${name}" is the default one, which stays`);
    }
    const known = this.#fleet.groups().map((group) => `"${group.name}"`);
    return new CoreError(
      "ERR_NOT_FOUND",
      `loop group "${name}" is not there; there are ${known.join(", ")}`,
    );
  }
}

function refuseForm(what: string, name: string): void {
  if (NAME_FORM.test(name)) return;
  throw new CoreError(
    "ERR_USAGE",
    `${what} "${name}": expected a letter, then letters, digits, ".", "_" or "-"`,
  );
}

function cpuOf(threadId: number): Pick<LoopEntry, "cpuSeconds"> {
  const cpuSeconds = threadId === 0 ? undefined : threadCpuSeconds(threadId);
  return cpuSeconds === undefined ? {} : { cpuSeconds };
}

function countKinds(channels: readonly ChannelEntry[]): LoopEntry["channels"] {
  const counts = { listener: 0, connection: 0, datagram: 0 };
  for (const { kind } of channels) counts[kind] += 1;
  return counts;
}
