import { CoreError } from "../../../core/errors.ts";
import { allocateNative, type NativeMemory } from "../native-memory.ts";
import type { OpenSslCalls } from "./openssl-calls.ts";
import { expectGood, takeFailure } from "./openssl-error.ts";

/** Text as C has it, with a zero at its end. */
export function cText(text: string): NativeMemory {
  const bytes = Buffer.from(text);
  const memory = allocateNative(bytes.length + 1);
  memory.bytes.set(bytes);
  return memory;
}

/** Calls back with each certificate of a PEM text, which is the caller's to free; one at least. */
export function readCertificates(
  calls: OpenSslCalls,
  pem: string,
  take: (x509: number) => void,
): void {
  const count = withBio(calls, pem, (bio) => {
    for (let read = 0; ; read += 1) {
      const x509 = calls.pemReadX509(bio, 0, 0, 0);
      if (x509 === 0) return read;
      take(x509);
    }
  });
  // The end of the text is an error too.
  const { text } = takeFailure(calls);
  if (count === 0) throw new CoreError("ERR_CONFIG_INVALID", `no certificate in PEM text: ${text}`);
}

/** A private key, which is the caller's to free. */
export function readPrivateKey(calls: OpenSslCalls, pem: string): number {
  // Without a passphrase OpenSSL would ask for one on the terminal.
  const noPassphrase = cText("");
  return withBio(calls, pem, (bio) =>
    expectGood(
      calls,
      "PEM_read_bio_PrivateKey",
      calls.pemReadPrivateKey(bio, 0, 0, noPassphrase.address),
    ),
  );
}

function withBio<T>(calls: OpenSslCalls, pem: string, use: (bio: number) => T): T {
  const memory = cText(pem);
  const bio = calls.bioNewMemBuf(memory.address, memory.bytes.length - 1);
  expectGood(calls, "BIO_new_mem_buf", bio);
  try {
    return use(bio);
  } finally {
    calls.bioFree(bio);
    // A key must not stay in memory that is given to others.
    memory.bytes.fill(0);
  }
}
