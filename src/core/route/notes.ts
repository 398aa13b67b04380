import type { Endpoint } from "../model/endpoint.ts";
import type { NotChosen } from "./verdict.ts";

/** Collects the words of a verdict while it is being found. */
export class Notes {
  readonly reasons: string[] = [];
  readonly #excluded = new Map<Endpoint, string>();

  because(reason: string): void {
    this.reasons.push(reason);
  }

  /** The first reason stays: it is the one that decided. */
  exclude(endpoint: Endpoint, reason: string): void {
    if (!this.#excluded.has(endpoint)) this.#excluded.set(endpoint, reason);
  }

  /** Everything excluded but not chosen all the same, through another group. */
  others(chosen: ReadonlySet<Endpoint>): readonly NotChosen[] {
    return [...this.#excluded]
      .filter(([endpoint]) => !chosen.has(endpoint))
      .map(([endpoint, reason]) => ({ endpoint, reason }));
  }
}
