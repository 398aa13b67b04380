import type { NftElement } from "../../../platform/linux/nft/table-script.ts";
import { type CompiledFrontend, elementsOf } from "./compile-frontend.ts";
import { type Frontend, frontendKey } from "./frontend.ts";

export interface ElementChanges {
  readonly removed: readonly NftElement[];
  readonly added: readonly NftElement[];
}

/** What is to be told about a frontend that came, changed or went. */
export interface Recompiled {
  readonly before: CompiledFrontend | undefined;
  readonly now: CompiledFrontend | undefined;
}

/**
 * Who wants which address and port, who has it, and how the elements that follow differ from those that
 * are there. Only what is replaced is looked at again.
 */
export class FrontendTable {
  readonly #byClaimant = new Map<string, readonly Frontend[]>();
  readonly #claims = new Map<string, readonly Frontend[]>();
  readonly #compiled = new Map<string, CompiledFrontend>();
  readonly #applied = new Map<string, CompiledFrontend>();
  readonly #touched = new Set<string>();
  readonly #uncompiled = new Set<string>();

  get size(): number {
    return this.#compiled.size;
  }

  get slots(): number {
    let count = 0;
    for (const { slots } of this.#compiled.values())
      count += slots.whole.length + slots.local.length;
    return count;
  }

  /** Says all that a claimant wants from now on. Those that replace each other are given in one go. */
  replace(claimant: string, frontends: readonly Frontend[]): void {
    for (const frontend of this.#byClaimant.get(claimant) ?? []) this.#drop(frontend);
    if (frontends.length === 0) this.#byClaimant.delete(claimant);
    else this.#byClaimant.set(claimant, frontends);
    for (const frontend of frontends) this.#put(frontend);
  }

  /** Compiles what changed; `compile` is given what there was. */
  compile(
    compile: (frontend: Frontend, before: CompiledFrontend | undefined) => CompiledFrontend,
  ): readonly Recompiled[] {
    const all = [...this.#uncompiled].map((key) => {
      const before = this.#compiled.get(key);
      const [winner] = this.#claims.get(key) ?? [];
      const now = winner === undefined ? undefined : compile(winner, before);
      if (now === undefined) this.#compiled.delete(key);
      else this.#compiled.set(key, now);
      this.#touched.add(key);
      return { before, now };
    });
    this.#uncompiled.clear();
    return all;
  }

  *elements(): Generator<NftElement> {
    for (const compiled of this.#compiled.values()) yield* elementsOf(compiled);
  }

  changes(): ElementChanges {
    const removed: NftElement[] = [];
    const added: NftElement[] = [];
    for (const key of this.#touched) {
      const before = indexed(this.#applied.get(key));
      const now = indexed(this.#compiled.get(key));
      for (const [id, element] of before) {
        const other = now.get(id);
        if (other === undefined || !isSame(element, other)) removed.push(element);
      }
      for (const [id, element] of now) {
        const other = before.get(id);
        if (other === undefined || !isSame(element, other)) added.push(element);
      }
    }
    return { removed, added };
  }

  commit(): void {
    for (const key of this.#touched) {
      const compiled = this.#compiled.get(key);
      if (compiled === undefined) this.#applied.delete(key);
      else this.#applied.set(key, compiled);
    }
    this.#touched.clear();
  }

  #put(frontend: Frontend): void {
    const key = frontendKey(frontend);
    const others = this.#claims.get(key) ?? [];
    const claims = [...others, frontend].sort(byPrecedence);
    this.#claims.set(key, claims);
    this.#uncompiled.add(key);
  }

  #drop(frontend: Frontend): void {
    const key = frontendKey(frontend);
    const left = (this.#claims.get(key) ?? []).filter((one) => one !== frontend);
    if (left.length === 0) this.#claims.delete(key);
    else this.#claims.set(key, left);
    this.#uncompiled.add(key);
  }
}

function byPrecedence(a: Frontend, b: Frontend): number {
  return a.rank - b.rank || (a.label < b.label ? -1 : 1);
}

function indexed(compiled: CompiledFrontend | undefined): ReadonlyMap<string, NftElement> {
  const elements = new Map<string, NftElement>();
  if (compiled === undefined) return elements;
  for (const element of elementsOf(compiled)) {
    elements.set(`${element.container} ${element.key}`, element);
  }
  return elements;
}

function isSame(a: NftElement, b: NftElement): boolean {
  return a.value === b.value && a.comment === b.comment;
}
