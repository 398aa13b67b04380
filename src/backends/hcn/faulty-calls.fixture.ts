import { expect } from "vitest";
import type { FakeHcn } from "../../platform/windows/fake.ts";
import type { HcnCalls } from "../../platform/windows/hcn-calls.ts";
import { HRESULT, hcnError } from "../../platform/windows/hcn-failure.ts";
import { balancersIn } from "./hcn-view.fixture.ts";

/** E_UNEXPECTED. */
export const UNEXPECTED = 0x8000ffff;

/** Counts, and lets the call of a number fail, before or after it had its effect. */
export class FaultyCalls implements HcnCalls {
  readonly inner: FakeHcn;
  readonly names: string[] = [];
  /** Somebody else has removed endpoints: what sends to them is not ours to answer for. */
  isLoose = false;
  fault:
    | { readonly at: number; readonly when: "before" | "after"; readonly hresult: number }
    | undefined;

  constructor(inner: FakeHcn) {
    this.inner = inner;
  }

  version: HcnCalls["version"] = () => this.#run("version", () => this.inner.version());
  enumerate: HcnCalls["enumerate"] = (...call) =>
    this.#run(`enumerate ${call[0]}`, () => this.inner.enumerate(...call));
  query: HcnCalls["query"] = (...call) =>
    this.#run(`query ${call[0]}`, () => this.inner.query(...call));
  create: HcnCalls["create"] = (...call) =>
    this.#run(`create ${call[0]}`, () => this.inner.create(...call));
  modify: HcnCalls["modify"] = (...call) =>
    this.#run(`modify ${call[0]}`, () => this.inner.modify(...call));
  delete: HcnCalls["delete"] = (...call) =>
    this.#run(`delete ${call[0]}`, () => this.inner.delete(...call));
  watch: HcnCalls["watch"] = (onNotice) => this.inner.watch(onNotice);
  close: HcnCalls["close"] = () => this.inner.close();

  async #run<T>(name: string, act: () => Promise<T>): Promise<T> {
    const at = this.names.push(name) - 1;
    const fault = this.fault?.at === at ? this.fault : undefined;
    // Who says that an endpoint is not there when it is asked for is believed.
    const isBelieved = fault?.hresult === HRESULT.endpointNotFound && name.endsWith("Endpoint");
    const refusal = fault && hcnError(name, isBelieved ? UNEXPECTED : fault.hresult);
    if (fault?.when === "before") throw refusal;
    const result = await act();
    if (!this.isLoose) this.#lookForDangling();
    if (refusal) throw refusal;
    return result;
  }

  /** At no moment a load balancer of ours sends to an endpoint that is not there. */
  #lookForDangling(): void {
    expect(balancersIn(this.inner).filter((line) => line.includes("GONE"))).toEqual([]);
  }
}
