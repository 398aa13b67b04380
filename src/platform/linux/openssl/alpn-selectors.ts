import { addressOfCallback } from "../binding.ts";
import { allocateNative, type NativeMemory } from "../native-memory.ts";
import type { OpenSslCalls } from "./openssl-calls.ts";
import {
  OPENSSL_NPN_NEGOTIATED,
  SSL_TLSEXT_ERR_ALERT_FATAL,
  SSL_TLSEXT_ERR_OK,
} from "./openssl-numbers.ts";

const PARAMETERS = ["uintptr_t", "uintptr_t", "uintptr_t", "uintptr_t", "uint", "uintptr_t"];

/**
 * Functions that choose a protocol by ALPN, for SSL_CTX_set_alpn_select_cb(3): the first of a list
 * that the client offers. One who offers others only is refused, as RFC 7301 wants it.
 */
export class AlpnSelectors {
  readonly #calls: OpenSslCalls;
  readonly #addresses = new Map<string, number>();
  /** What C code refers to must not be collected. */
  readonly #lists: NativeMemory[] = [];

  constructor(calls: OpenSslCalls) {
    this.#calls = calls;
  }

  /** The address of the function for these protocols, the best one first. */
  addressFor(protocols: readonly string[]): number {
    const key = protocols.join(",");
    const known = this.#addresses.get(key);
    if (known !== undefined) return known;
    const address = this.#create(protocols);
    this.#addresses.set(key, address);
    return address;
  }

  #create(protocols: readonly string[]): number {
    const parts = protocols.map((name) =>
      Buffer.from(`${String.fromCharCode(name.length)}${name}`),
    );
    const list = Buffer.concat(parts);
    const memory = allocateNative(list.length);
    memory.bytes.set(list);
    this.#lists.push(memory);
    const { selectNextProto } = this.#calls;
    return addressOfCallback<[number, number, number, number, number, number]>(
      "int",
      PARAMETERS,
      (_ssl, out, outLength, offered, offeredBytes) =>
        selectNextProto(out, outLength, memory.address, list.length, offered, offeredBytes) ===
        OPENSSL_NPN_NEGOTIATED
          ? SSL_TLSEXT_ERR_OK
          : SSL_TLSEXT_ERR_ALERT_FATAL,
    );
  }
}
