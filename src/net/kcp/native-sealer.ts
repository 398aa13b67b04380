import type { AeadCalls } from "../../platform/linux/openssl/aead-calls.ts";
import { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
import type { CreateSealer } from "./sealer.ts";

/** The same by the OpenSSL of Node itself, for regions with an address: an eighth of the time. */
export function nativeSealer(calls: AeadCalls): CreateSealer {
  return (keys) => {
    const sealing = new AeadKey(calls, keys.sealing, "seal");
    const opening = new AeadKey(calls, keys.opening, "open");
    return {
      seal: (counter, { address }, start, byteCount) =>
        sealing.seal(counter, address + start, byteCount, address + start),
      open: (counter, { address }, start, byteCount) =>
        opening.open(counter, address + start, byteCount, address + start),
      free: () => {
        sealing.free();
        opening.free();
      },
    };
  };
}
