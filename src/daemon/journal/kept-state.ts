import { setImmediate as pause } from "node:timers/promises";
import type { RuntimeEntry } from "../../control/world.ts";
import { describe, type Kind, keyOf, type ModelObject } from "../../core/model/object.ts";
import { type KeptChange, NO_DESIRED_CHANGE, NO_RUNTIME_CHANGE } from "./journal-line.ts";

interface Kept {
  readonly object: ModelObject;
  readonly bytes: number;
}

/** A part of a snapshot holds so many objects: one line with all of them could be too long to read. */
const OBJECTS_A_PART = 500;

/** All that commands made and that is there now: what the entries of a journal come to. */
export class KeptState {
  readonly #objects = new Map<string, Kept>();
  #entries: readonly RuntimeEntry[] = [];
  #bytes = 0;

  /** About as many as its objects have in a journal. */
  get bytes(): number {
    return this.#bytes;
  }

  get(kind: Kind, key: string): ModelObject | undefined {
    return this.#objects.get(describe(kind, key))?.object;
  }

  objects(): readonly ModelObject[] {
    return [...this.#objects.values()].map(({ object }) => object);
  }

  /** In the order in which they were made. */
  entries(): readonly RuntimeEntry[] {
    return this.#entries;
  }

  apply({ desired, runtime }: KeptChange): void {
    for (const { kind, key } of desired.delete) this.#delete(describe(kind, key));
    for (const object of desired.set) this.#set(object, sizeOf(object));
    this.#keep(runtime);
  }

  /**
   * As `apply`, with pauses in which others go on; nobody may rely on what it concerns meanwhile.
   * @param sizeIfKnown of an object in a journal
   */
  async applySlowly(
    { desired, runtime }: KeptChange,
    sizeIfKnown: (object: ModelObject) => number | undefined,
  ): Promise<void> {
    for (const { kind, key } of desired.delete) this.#delete(describe(kind, key));
    for (const [index, object] of desired.set.entries()) {
      if (index % OBJECTS_A_PART === OBJECTS_A_PART - 1) await pause();
      this.#set(object, sizeIfKnown(object) ?? sizeOf(object));
    }
    this.#keep(runtime);
  }

  #keep(runtime: KeptChange["runtime"]): void {
    const isGone = (entry: RuntimeEntry): boolean =>
      [...runtime.remove, ...runtime.add].some(
        ({ kind, name }) => kind === entry.kind && name === entry.name,
      );
    this.#entries = [...this.#entries.filter((entry) => !isGone(entry)), ...runtime.add];
  }

  /** What takes a change of the objects back, asked for before it is made. */
  inverseOf({ set, delete: gone }: KeptChange["desired"]): KeptChange["desired"] {
    const names = [...gone, ...set.map((object) => ({ kind: object.kind, key: keyOf(object) }))];
    const before = names.map((name) => ({ name, object: this.get(name.kind, name.key) }));
    return {
      set: before.flatMap(({ object }) => object ?? []),
      delete: before.flatMap(({ name, object }) => (object === undefined ? [name] : [])),
    };
  }

  /** Changes that make all of it from nothing. */
  *parts(): Generator<KeptChange> {
    const objects = this.objects();
    for (let at = 0; at < objects.length; at += OBJECTS_A_PART) {
      const set = objects.slice(at, at + OBJECTS_A_PART);
      yield { desired: { set, delete: [] }, runtime: NO_RUNTIME_CHANGE };
    }
    if (this.#entries.length > 0) {
      yield { desired: NO_DESIRED_CHANGE, runtime: { add: this.#entries, remove: [] } };
    }
  }

  #set(object: ModelObject, bytes: number): void {
    const id = describe(object.kind, keyOf(object));
    this.#bytes += bytes - (this.#objects.get(id)?.bytes ?? 0);
    this.#objects.set(id, { object, bytes });
  }

  #delete(id: string): void {
    this.#bytes -= this.#objects.get(id)?.bytes ?? 0;
    this.#objects.delete(id);
  }
}

/** As long as its canonical form, and found many times quicker. */
function sizeOf(object: ModelObject): number {
  return JSON.stringify(object).length;
}
