import { type Kind, keyOf, type ModelObject } from "../../core/model/object.ts";
import { formatProblem } from "../../core/model/problems.ts";
import { isRaw, type Raw, RawReader } from "../../core/model/raw-reader.ts";
import type { ReflectorTaker } from "../../engines/kubernetes/reflector.ts";
import type { StoreWriter } from "./store-writer.ts";

export interface ObjectMirrorOptions {
  /** What the objects of Kubernetes are called: `EndpointSlice`. */
  readonly what: string;
  /** What they become. */
  readonly kind: Kind;
  /** What an object is to a proxy; nothing where it has none to do for it. */
  readonly read: (reader: RawReader, raw: Raw) => readonly ModelObject[];
  readonly writer: StoreWriter;
  /** The first list is in the store. */
  readonly onListed: () => void;
  /** All that came was written; what can not be read, or is refused, may have changed. */
  readonly onPause: () => void;
  /** An object came or changed, or went, after the first list. */
  readonly onEvent?: (id: string, object: Raw | undefined) => void;
}

/** A reader keeps the names that it met; after so many objects it is replaced. */
const OBJECTS_PER_READER = 10_000;

/**
 * What a cluster has of one resource. It knows which of the model's objects came from which object of
 * Kubernetes, so that those that go are deleted, be it that nobody said so.
 */
export class ObjectMirror implements ReflectorTaker {
  readonly #options: ObjectMirrorOptions;
  /** For each object of Kubernetes, the keys of what it became. */
  #known = new Map<string, readonly string[]>();
  #listed = new Map<string, readonly ModelObject[] | undefined>();
  readonly #unreadable = new Map<string, string>();
  #reader = new RawReader();
  #read = 0;

  constructor(options: ObjectMirrorOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#known.size;
  }

  /** What could not be read, in words. */
  unreadable(): readonly string[] {
    return [...this.#unreadable.values()];
  }

  listBegins(): void {
    this.#listed = new Map();
    this.#reader = new RawReader();
  }

  listed(item: unknown): void {
    if (!isRaw(item)) return;
    this.#listed.set(idOf(item), this.#objectsOf(item));
  }

  listEnds(): void {
    const listed = this.#listed;
    this.#listed = new Map();
    for (const id of this.#known.keys()) if (!listed.has(id)) this.#forget(id);
    for (const [id, objects] of listed) this.#put(id, objects);
    this.#options.writer.flush();
    this.#options.onListed();
  }

  set(object: Raw): void {
    const id = idOf(object);
    this.#put(id, this.#objectsOf(object));
    this.#options.onEvent?.(id, object);
  }

  delete(object: Raw): void {
    const id = idOf(object);
    this.#forget(id);
    this.#options.onEvent?.(id, undefined);
  }

  pause(): void {
    this.#options.writer.flush();
    this.#options.onPause();
  }

  /** Undefined where it can not be read: then what was known of it stays. */
  #objectsOf(raw: Raw): readonly ModelObject[] | undefined {
    const { read, what } = this.#options;
    this.#read += 1;
    if (this.#read % OBJECTS_PER_READER === 0) this.#reader = new RawReader();
    const objects = read(this.#reader, raw);
    const [problem] = this.#reader.problems.splice(0);
    const id = idOf(raw);
    if (problem === undefined) {
      this.#unreadable.delete(id);
      return objects;
    }
    this.#unreadable.set(id, `${what} ${id}: ${formatProblem(problem)}`);
    return undefined;
  }

  #put(id: string, objects: readonly ModelObject[] | undefined): void {
    const { kind, writer } = this.#options;
    const before = this.#known.get(id) ?? [];
    if (objects === undefined) {
      this.#known.set(id, before);
      return;
    }
    const keys = objects.map(keyOf);
    const now = new Set(keys);
    for (const key of before) if (!now.has(key)) writer.delete(kind, key);
    for (const object of objects) writer.set(object);
    this.#known.set(id, keys);
  }

  #forget(id: string): void {
    const { kind, writer } = this.#options;
    for (const key of this.#known.get(id) ?? []) writer.delete(kind, key);
    this.#known.delete(id);
    this.#unreadable.delete(id);
  }
}

/** `namespace/name`, or the name where it has no namespace. */
function idOf(raw: Raw): string {
  const metadata = isRaw(raw["metadata"]) ? raw["metadata"] : {};
  const { namespace, name } = metadata;
  const own = typeof name === "string" ? name : "";
  return typeof namespace === "string" && namespace !== "" ? `${namespace}/${own}` : own;
}
