import { TypedControl } from "../../src/control/typed.fixture.ts";
import type { ControlWorld, RuntimeEntry } from "../../src/control/world.ts";
import { CONTROL_OWNER } from "../../src/control/world.ts";
import { CoreError } from "../../src/core/errors.ts";
import { canonicalJson } from "../../src/core/model/hash.ts";
import { describe, KINDS, keyOf, type ModelObject } from "../../src/core/model/object.ts";
import { parseObject } from "../../src/core/model/parse.ts";

/** What a caller can do: a command, or objects that come at once. */
export type Deed =
  | { readonly kind: "command"; readonly line: string }
  | { readonly kind: "apply"; readonly objects: readonly object[] };

/** What commands made: objects, and the loops of each group. */
export interface Made {
  readonly objects: readonly ModelObject[];
  readonly loops: ReadonlyMap<string, readonly string[]>;
}

/** Equal for what is equal. */
export function textOf({ objects, loops }: Made): string {
  const byName = (a: ModelObject, b: ModelObject): number => (nameOf(a) < nameOf(b) ? -1 : 1);
  const groups = [...loops].map(([name, members]) => [name, [...members].sort()]);
  return canonicalJson([[...objects].sort(byName), groups.sort()]);
}

function nameOf(object: ModelObject): string {
  return describe(object.kind, keyOf(object));
}

/** What is true of an instance without a disk that was told the same: what a real one must have kept. */
export class KillModel {
  #typed = new TypedControl();

  made(): Made {
    const { store } = this.#typed.world;
    const objects = KINDS.flatMap((kind) => [...store.objects(kind)]);
    const groups = engineOf(this.#typed.world).loopGroups();
    const own = groups.filter(({ isDefault }) => !isDefault);
    return { objects, loops: new Map(own.map(({ name, loops }) => [name, loops])) };
  }

  /** @returns the code that it is refused with */
  async do(deed: Deed): Promise<string | undefined> {
    try {
      if (deed.kind === "command") await this.#typed.type(deed.line);
      else
        await this.#typed.world.commit({
          set: deed.objects.map((raw) => parseObject(raw)),
          delete: [],
        });
      return undefined;
    } catch (error) {
      if (error instanceof CoreError) return error.code;
      throw error;
    }
  }

  /** Goes back to what was true once. */
  async become({ objects, loops }: Made): Promise<void> {
    this.#typed = new TypedControl();
    const { world } = this.#typed;
    world.store.transact(CONTROL_OWNER, (transaction) => transaction.replaceAll(objects));
    const add: RuntimeEntry[] = [];
    for (const [group, members] of loops) {
      await engineOf(world).addLoopGroup(group);
      add.push({ kind: "event-loop-group", name: group });
      for (const name of members) {
        await engineOf(world).addLoop(name, group);
        add.push({ kind: "event-loop", name, group });
      }
    }
    await world.keep({ add, remove: [] });
  }
}

function engineOf({ engine }: ControlWorld): NonNullable<ControlWorld["engine"]> {
  if (engine === undefined) throw new TypeError("a model has an engine");
  return engine;
}
