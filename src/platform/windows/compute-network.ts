import { CoreError, messageOf } from "../../core/errors.ts";
import { canonicalGuid } from "./guid.ts";
import type { HcnCalls, HcnKind, HcnNotice } from "./hcn-calls.ts";
import { HcnDll, type Out } from "./hcn-dll.ts";
import { hcnError } from "./hcn-failure.ts";
import { KeptHandle } from "./kept-handle.ts";
import { computeNetworkPath, systemDll } from "./system-dll.ts";

/** As computenetwork.h numbers them. */
const NOTICES: ReadonlyMap<number, HcnNotice["what"]> = new Map([
  [0x0000_0002, "network-created"],
  [0x0000_0004, "network-deleted"],
  [0x0000_0009, "endpoint-attached"],
  [0x0100_0000, "service-gone"],
]);

/** An open object of one kind; they are not interchangeable. */
class HcnHandle {
  readonly kind: HcnKind;
  readonly #value: unknown;

  constructor(kind: HcnKind, value: unknown) {
    this.kind = kind;
    this.#value = value;
  }

  /** @throws CoreError ERR_SYSTEM_CALL where it is of another kind */
  as(kind: HcnKind): unknown {
    if (kind === this.kind) return this.#value;
    throw new CoreError("ERR_SYSTEM_CALL", `a handle of a ${this.kind} is none of a ${kind}`);
  }
}

/** @throws CoreError ERR_NOT_POSSIBLE_HERE where Windows has no HCN */
export function openComputeNetwork(
  paths: { readonly computeNetwork: string; readonly vmCompute: string } = {
    computeNetwork: computeNetworkPath(),
    vmCompute: systemDll("vmcompute.dll"),
  },
): HcnCalls {
  try {
    return new ComputeNetwork(new HcnDll(paths.computeNetwork, paths.vmCompute));
  } catch (error) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `HCN can not be reached: ${messageOf(error)}; Install-WindowsFeature Containers, on Windows Server 2019 or newer`,
      { cause: error },
    );
  }
}

/** Handles are closed when the call that needed them is over. */
class ComputeNetwork implements HcnCalls {
  readonly #dll: HcnDll;
  readonly #network: KeptHandle<HcnHandle>;
  readonly #watches = new Set<() => Promise<void>>();

  constructor(dll: HcnDll) {
    this.#dll = dll;
    this.#network = new KeptHandle({
      open: (id) => this.#open("Network", id),
      close: (handle) => this.#close(handle),
    });
  }

  async version(): Promise<string> {
    const response: Out<string> = [null];
    check("HNSCall", await this.#dll.call("HNSCall", "GET", "/globals/version", "", response));
    return outputOf(response[0] ?? "");
  }

  async enumerate(kind: HcnKind, query: string): Promise<string> {
    const name = `HcnEnumerate${kind}s`;
    const result: Out<string> = [null];
    const record: Out<string> = [null];
    check(name, await this.#dll.call(name, query, result, record), record);
    return result[0] ?? "[]";
  }

  async query(kind: HcnKind, id: string, query: string): Promise<string> {
    const name = `HcnQuery${kind}Properties`;
    return this.#withOpen(kind, id, async (handle) => {
      const properties: Out<string> = [null];
      const record: Out<string> = [null];
      const hresult = await this.#dll.call(name, handle.as(kind), query, properties, record);
      check(name, hresult, record, id);
      return properties[0] ?? "{}";
    });
  }

  async create(
    kind: "Endpoint" | "LoadBalancer",
    id: string,
    settings: string,
    networkId = "",
  ): Promise<void> {
    const name = `HcnCreate${kind}`;
    const make = async (...before: readonly unknown[]): Promise<void> => {
      const handle: Out<bigint> = [null];
      const record: Out<string> = [null];
      const hresult = await this.#dll.call(name, ...before, guidOf(id), settings, handle, record);
      check(name, hresult, record, id);
      await this.#close(new HcnHandle(kind, handle[0]));
    };
    if (kind === "LoadBalancer") return make();
    return this.#network.use(networkId, (network) => make(network.as("Network")));
  }

  async modify(kind: "LoadBalancer", id: string, settings: string): Promise<void> {
    const name = `HcnModify${kind}`;
    await this.#withOpen(kind, id, async (handle) => {
      const record: Out<string> = [null];
      check(name, await this.#dll.call(name, handle.as(kind), settings, record), record, id);
    });
  }

  async delete(kind: "Endpoint" | "LoadBalancer", id: string): Promise<void> {
    const name = `HcnDelete${kind}`;
    const record: Out<string> = [null];
    check(name, await this.#dll.call(name, guidOf(id), record), record, id);
  }

  async watch(onNotice: (notice: HcnNotice) => void): Promise<() => Promise<void>> {
    const { hresult, end: unregister } = await this.#dll.register((event) => {
      const what = NOTICES.get(event);
      if (what !== undefined) onNotice({ what });
    });
    check("HcnRegisterServiceCallback", hresult);
    let ending: Promise<void> | undefined;
    const end = (): Promise<void> => {
      ending ??= unregister().finally(() => this.#watches.delete(end));
      return ending;
    };
    this.#watches.add(end);
    return end;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#watches].map((end) => end()));
  }

  async #withOpen<T>(
    kind: HcnKind,
    id: string,
    act: (handle: HcnHandle) => Promise<T>,
  ): Promise<T> {
    const handle = await this.#open(kind, id);
    try {
      return await act(handle);
    } finally {
      await this.#close(handle);
    }
  }

  async #open(kind: HcnKind, id: string): Promise<HcnHandle> {
    const name = `HcnOpen${kind}`;
    const out: Out<bigint> = [null];
    const record: Out<string> = [null];
    check(name, await this.#dll.call(name, guidOf(id), out, record), record, id);
    return new HcnHandle(kind, out[0]);
  }

  /** A handle that can not be closed is of no use to anybody: the object is served all the same. */
  async #close(handle: HcnHandle): Promise<void> {
    await this.#dll.call(`HcnClose${handle.kind}`, handle.as(handle.kind));
  }
}

function check(call: string, hresult: number, record: Out<string> = [null], subject = ""): void {
  if (hresult < 0) throw hcnError(call, hresult, { record: record[0] ?? "", subject });
}

/** What an answer of HNS holds. */
function outputOf(response: string): string {
  const answer: unknown = JSON.parse(response);
  if (typeof answer !== "object" || answer === null || !("Output" in answer)) {
    throw new CoreError("ERR_SYSTEM_CALL", `HNSCall answered without an output: ${response}`);
  }
  return JSON.stringify(answer.Output);
}

interface Guid {
  readonly Data1: number;
  readonly Data2: number;
  readonly Data3: number;
  readonly Data4: readonly number[];
}

function guidOf(id: string): Guid {
  const hex = canonicalGuid(id)?.replaceAll("-", "");
  if (hex === undefined) throw new CoreError("ERR_SYSTEM_CALL", `"${id}" is not a GUID`);
  const number = (from: number, to: number) => Number.parseInt(hex.slice(from, to), 16);
  return {
    Data1: number(0, 8),
    Data2: number(8, 12),
    Data3: number(12, 16),
    Data4: Array.from({ length: 8 }, (_, index) => number(16 + index * 2, 18 + index * 2)),
  };
}
