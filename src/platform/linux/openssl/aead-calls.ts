import { CoreError, messageOf } from "../../../core/errors.ts";
import { bindCall } from "../binding.ts";
import { cText } from "./read-pem.ts";

type Call<A extends readonly number[]> = (...args: A) => number;

/** Sealing with the OpenSSL that Node itself runs on: EVP_EncryptInit(3ssl). */
export class AeadCalls {
  readonly fetch: Call<[number, number, number]> = bindCall(
    "uintptr_t EVP_CIPHER_fetch(uintptr_t, uintptr_t, uintptr_t)",
  );
  readonly newContext: Call<[]> = bindCall("uintptr_t EVP_CIPHER_CTX_new()");
  readonly freeContext: Call<[number]> = bindCall("void EVP_CIPHER_CTX_free(uintptr_t)");
  readonly init: Call<[number, number, number, number, number, number]> = bindCall(
    "int EVP_CipherInit_ex(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, int)",
  );
  readonly update: Call<[number, number, number, number, number]> = bindCall(
    "int EVP_CipherUpdate(uintptr_t, uintptr_t, uintptr_t, uintptr_t, int)",
  );
  readonly final: Call<[number, number, number]> = bindCall(
    "int EVP_CipherFinal_ex(uintptr_t, uintptr_t, uintptr_t)",
  );
  readonly control: Call<[number, number, number, number]> = bindCall(
    "int EVP_CIPHER_CTX_ctrl(uintptr_t, int, int, uintptr_t)",
  );
  readonly clearErrors: Call<[]> = bindCall("void ERR_clear_error()");
  readonly chacha: number;

  constructor() {
    this.chacha = this.fetch(0, cText("ChaCha20-Poly1305").address, 0);
  }
}

/** @throws CoreError ERR_NOT_POSSIBLE_HERE where this Node has no OpenSSL that can be called */
export function loadAead(): AeadCalls {
  try {
    const calls = new AeadCalls();
    if (calls.chacha !== 0) return calls;
    throw new CoreError("ERR_NOT_POSSIBLE_HERE", "its OpenSSL has no ChaCha20-Poly1305");
  } catch (cause) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `a secure tunnel: this Node does not export OpenSSL (${messageOf(cause)}); use a Node from nodejs.org`,
      { cause },
    );
  }
}
