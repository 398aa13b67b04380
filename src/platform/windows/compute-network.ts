import koffi, { type TypeObject } from "koffi";
import { CoreError, messageOf } from "../../core/errors.ts";
import { canonicalGuid } from "./guid.ts";
import type { HcnCalls, HcnKind, HcnNotice } from "./hcn-calls.ts";
import { hcnError } from "./hcn-failure.ts";
import { computeNetworkPath, systemDll } from "./system-dll.ts";

/**
 * computenetwork.h: https://learn.microsoft.com/windows-server/networking/technologies/hcn. Every call goes
 * out on a thread of its own. What HCN hands out is freed: texts when they are read (`CoTaskMemFree`),
 * handles when the call that needed them is over.
 */

/** As computenetwork.h numbers them. */
const NOTICES: ReadonlyMap<number, HcnNotice["what"]> = new Map([
  [0x0000_0002, "network-created"],
  [0x0000_0004, "network-deleted"],
  [0x0000_0009, "endpoint-attached"],
  [0x0100_0000, "service-gone"],
]);

const KINDS: readonly HcnKind[] = ["Network", "Endpoint", "LoadBalancer"];

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

/** A C function that returns an HRESULT, called on another thread. */
type AsyncCall = (...args: readonly unknown[]) => Promise<number>;

/** What a C function writes through a pointer to a pointer. */
type Out<T> = [T | null];

/** @throws CoreError ERR_NOT_POSSIBLE_HERE where Windows has no HCN */
export function openComputeNetwork(
  paths: { readonly computeNetwork: string; readonly vmCompute: string } = {
    computeNetwork: computeNetworkPath(),
    vmCompute: systemDll("vmcompute.dll"),
  },
): HcnCalls {
  try {
    return new ComputeNetwork(paths.computeNetwork, paths.vmCompute);
  } catch (error) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `HCN can not be reached: ${messageOf(error)}; Install-WindowsFeature Containers, on Windows Server 2019 or newer`,
      { cause: error },
    );
  }
}

class ComputeNetwork implements HcnCalls {
  readonly #calls = new Map<string, AsyncCall>();
  readonly #noticeType: TypeObject;
  readonly #register: (callback: bigint, context: null, handle: Out<bigint>) => number;
  readonly #unregister: (handle: bigint) => number;
  readonly #watches = new Set<() => void>();

  constructor(computeNetwork: string, vmCompute: string) {
    const ole = koffi.load(systemDll("ole32.dll"));
    const dll = koffi.load(computeNetwork);
    const hns = koffi.load(vmCompute);
    const free = ole.func("void __stdcall CoTaskMemFree(void *)");
    const text = koffi.disposable(koffi.pointer("char16_t"), free);
    const outText = koffi.out(koffi.pointer(text));
    const guid = koffi.struct({
      Data1: "uint32_t",
      Data2: "uint16_t",
      Data3: "uint16_t",
      Data4: koffi.array("uint8_t", 8),
    });
    const id = koffi.pointer(guid);
    const outHandle = koffi.out(koffi.pointer(koffi.pointer("void")));
    const bind = (library: typeof dll, name: string, args: Parameters<typeof dll.func>[3]) => {
      const call = library.func("__stdcall", name, "int32_t", args);
      this.#calls.set(name, (...given) => asPromise(call.async, given));
    };
    for (const kind of KINDS) {
      bind(dll, `HcnEnumerate${kind}s`, ["str16", outText, outText]);
      bind(dll, `HcnOpen${kind}`, [id, outHandle, outText]);
      bind(dll, `HcnClose${kind}`, ["void *"]);
      bind(dll, `HcnQuery${kind}Properties`, ["void *", "str16", outText, outText]);
    }
    bind(dll, "HcnCreateEndpoint", ["void *", id, "str16", outHandle, outText]);
    bind(dll, "HcnCreateLoadBalancer", [id, "str16", outHandle, outText]);
    bind(dll, "HcnModifyLoadBalancer", ["void *", "str16", outText]);
    bind(dll, "HcnDeleteEndpoint", [id, outText]);
    bind(dll, "HcnDeleteLoadBalancer", [id, outText]);
    bind(hns, "HNSCall", ["str16", "str16", "str16", outText]);
    this.#noticeType = koffi.pointer(
      koffi.proto("__stdcall", null, "void", ["uint32_t", "void *", "int32_t", "str16"]),
    );
    this.#register = dll.func("__stdcall", "HcnRegisterServiceCallback", "int32_t", [
      "void *",
      "void *",
      outHandle,
    ]);
    this.#unregister = dll.func("__stdcall", "HcnUnregisterServiceCallback", "int32_t", ["void *"]);
  }

  async version(): Promise<string> {
    const response: Out<string> = [null];
    check("HNSCall", await this.#call("HNSCall")("GET", "/globals/version", "", response));
    return outputOf(response[0] ?? "");
  }

  async enumerate(kind: HcnKind, query: string): Promise<string> {
    const name = `HcnEnumerate${kind}s`;
    const result: Out<string> = [null];
    const record: Out<string> = [null];
    check(name, await this.#call(name)(query, result, record), record);
    return result[0] ?? "[]";
  }

  async query(kind: HcnKind, id: string, query: string): Promise<string> {
    const name = `HcnQuery${kind}Properties`;
    return this.#withOpen(kind, id, async (handle) => {
      const properties: Out<string> = [null];
      const record: Out<string> = [null];
      const hresult = await this.#call(name)(handle.as(kind), query, properties, record);
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
      const hresult = await this.#call(name)(...before, guidOf(id), settings, handle, record);
      check(name, hresult, record, id);
      await this.#close(new HcnHandle(kind, handle[0]));
    };
    if (kind === "LoadBalancer") return make();
    return this.#withOpen("Network", networkId, (network) => make(network.as("Network")));
  }

  async modify(kind: "LoadBalancer", id: string, settings: string): Promise<void> {
    const name = `HcnModify${kind}`;
    await this.#withOpen(kind, id, async (handle) => {
      const record: Out<string> = [null];
      check(name, await this.#call(name)(handle.as(kind), settings, record), record, id);
    });
  }

  async delete(kind: "Endpoint" | "LoadBalancer", id: string): Promise<void> {
    const name = `HcnDelete${kind}`;
    const record: Out<string> = [null];
    check(name, await this.#call(name)(guidOf(id), record), record, id);
  }

  watch(onNotice: (notice: HcnNotice) => void): () => void {
    const callback = koffi.register((event: number) => {
      const what = NOTICES.get(event);
      if (what !== undefined) onNotice({ what });
    }, this.#noticeType);
    const handle: Out<bigint> = [null];
    check("HcnRegisterServiceCallback", this.#register(callback, null, handle));
    const end = (): void => {
      if (!this.#watches.delete(end)) return;
      if (handle[0] !== null) this.#unregister(handle[0]);
      koffi.unregister(callback);
    };
    this.#watches.add(end);
    return end;
  }

  close(): void {
    for (const end of [...this.#watches]) end();
  }

  #call(name: string): AsyncCall {
    const call = this.#calls.get(name);
    if (call !== undefined) return call;
    throw new CoreError("ERR_SYSTEM_CALL", `computenetwork.dll has no ${name}`);
  }

  async #withOpen<T>(
    kind: HcnKind,
    id: string,
    act: (handle: HcnHandle) => Promise<T>,
  ): Promise<T> {
    const name = `HcnOpen${kind}`;
    const out: Out<bigint> = [null];
    const record: Out<string> = [null];
    check(name, await this.#call(name)(guidOf(id), out, record), record, id);
    const handle = new HcnHandle(kind, out[0]);
    try {
      return await act(handle);
    } finally {
      await this.#close(handle);
    }
  }

  /** A handle that can not be closed is of no use to anybody: the object is served all the same. */
  async #close(handle: HcnHandle): Promise<void> {
    await this.#call(`HcnClose${handle.kind}`)(handle.as(handle.kind));
  }
}

function asPromise(
  call: (...args: readonly unknown[]) => unknown,
  args: readonly unknown[],
): Promise<number> {
  return new Promise((resolve, reject) => {
    call(...args, (error: unknown, result: number) => {
      if (error) reject(error);
      else resolve(result);
    });
  });
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
