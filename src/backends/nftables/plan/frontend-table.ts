import type { NftElement } from "../../../platform/linux/nft/table-script.ts";
import { type CompiledFrontend, elementsOf } from "./compile-frontend.ts";
import type { Frontend } from "./frontend.ts";

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
  /** Who has it; those who want it too are among the `#losers`. */
  readonly #winners = new Map<string, Frontend>();
  readonly #losers = new Map<string, readonly Frontend[]>();
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
      const winner = this.#winners.get(key);
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
    const { key } = frontend;
    const winner = this.#winners.get(key);
    if (winner === undefined) this.#winners.set(key, frontend);
    else this.#settle(key, [winner, frontend, ...(this.#losers.get(key) ?? [])]);
    this.#uncompiled.add(key);
  }

  #drop(frontend: Frontend): void {
    const { key } = frontend;
    const winner = this.#winners.get(key);
    const losers = this.#losers.get(key) ?? [];
    const all = winner === undefined ? losers : [winner, ...losers];
    this.#settle(
      key,
      all.filter((one) => one !== frontend),
    );
    this.#uncompiled.add(key);
  }

  #settle(key: string, claims: readonly Frontend[]): void {
    const [winner, ...losers] = [...claims].sort(byPrecedence);
    if (winner === undefined) this.#winners.delete(key);
    else this.#winners.set(key, winner);
    if (losers.length === 0) this.#losers.delete(key);
    else this.#losers.set(key, losers);
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
