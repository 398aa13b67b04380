import koffi, { type TypeObject } from "koffi";
import { CoreError } from "../../core/errors.ts";
import type { HcnKind } from "./hcn-calls.ts";
import { systemDll } from "./system-dll.ts";

/** A C function that returns an HRESULT, called on another thread. */
type AsyncCall = (...args: readonly unknown[]) => Promise<number>;

/** What a C function writes through a pointer to a pointer. */
export type Out<T> = [T | null];

const KINDS: readonly HcnKind[] = ["Network", "Endpoint", "LoadBalancer"];

/**
 * The functions of computenetwork.h: https://learn.microsoft.com/windows-server/networking/technologies/hcn.
 * Every one is called on a thread of its own. Texts that they hand out are freed when they are read
 * (`CoTaskMemFree`).
 */
export class HcnDll {
  readonly #calls = new Map<string, AsyncCall>();
  readonly #noticeType: TypeObject;

  /** @throws Error of the loader where a DLL or a function is not there */
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
    bind(dll, "HcnRegisterServiceCallback", ["void *", "void *", outHandle]);
    bind(dll, "HcnUnregisterServiceCallback", ["void *"]);
  }

  /** @returns the HRESULT */
  call(name: string, ...args: readonly unknown[]): Promise<number> {
    const call = this.#calls.get(name);
    if (call !== undefined) return call(...args);
    throw new CoreError("ERR_SYSTEM_CALL", `computenetwork.dll has no ${name}`);
  }

  /**
   * Has the service call back, from a thread of its own.
   * @returns the HRESULT, and what ends it
   */
  async register(onEvent: (event: number) => void): Promise<{
    readonly hresult: number;
    readonly end: () => Promise<void>;
  }> {
    const callback = koffi.register(onEvent, this.#noticeType);
    const handle: Out<bigint> = [null];
    const hresult = await this.call("HcnRegisterServiceCallback", callback, null, handle);
    const end = async (): Promise<void> => {
      // It waits for notices on their way, and those for this thread.
      if (handle[0] !== null) await this.call("HcnUnregisterServiceCallback", handle[0]);
      koffi.unregister(callback);
    };
    if (hresult < 0) await end();
    return { hresult, end };
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
