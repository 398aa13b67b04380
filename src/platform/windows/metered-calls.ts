import type { HcnCalls } from "./hcn-calls.ts";

/** How often a call was made, and how often it was refused. */
export interface CallCount {
  readonly total: number;
  readonly failures: number;
}

/** The same calls, counted by name: `create Endpoint`. */
export class MeteredCalls implements HcnCalls {
  readonly #inner: HcnCalls;
  readonly #counts = new Map<string, { total: number; failures: number }>();

  constructor(inner: HcnCalls) {
    this.#inner = inner;
  }

  counts(): ReadonlyMap<string, CallCount> {
    return this.#counts;
  }

  version: HcnCalls["version"] = () => this.#count("version", () => this.#inner.version());
  enumerate: HcnCalls["enumerate"] = (kind, ...rest) =>
    this.#count(`enumerate ${kind}`, () => this.#inner.enumerate(kind, ...rest));
  query: HcnCalls["query"] = (kind, ...rest) =>
    this.#count(`query ${kind}`, () => this.#inner.query(kind, ...rest));
  create: HcnCalls["create"] = (kind, ...rest) =>
    this.#count(`create ${kind}`, () => this.#inner.create(kind, ...rest));
  modify: HcnCalls["modify"] = (kind, ...rest) =>
    this.#count(`modify ${kind}`, () => this.#inner.modify(kind, ...rest));
  delete: HcnCalls["delete"] = (kind, ...rest) =>
    this.#count(`delete ${kind}`, () => this.#inner.delete(kind, ...rest));
  watch: HcnCalls["watch"] = (onNotice) => this.#inner.watch(onNotice);
  close: HcnCalls["close"] = () => this.#inner.close();

  async #count<T>(name: string, act: () => Promise<T>): Promise<T> {
    const count = this.#counts.get(name) ?? { total: 0, failures: 0 };
    this.#counts.set(name, count);
    count.total += 1;
    try {
      return await act();
    } catch (error) {
      count.failures += 1;
      throw error;
    }
  }
}
