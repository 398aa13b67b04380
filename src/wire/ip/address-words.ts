import { readIp, V4_BYTES, V6_BYTES, writeIp } from "../ip-bytes.ts";

/** An address as four signed 32-bit words; IPv4 in the last one, behind zeros. */
export interface AddressWords {
  readonly isV6: boolean;
  readonly w0: number;
  readonly w1: number;
  readonly w2: number;
  readonly w3: number;
}

const bytes = new Uint8Array(V6_BYTES);
const view = new DataView(bytes.buffer);

/** The words of an address in its canonical spelling. */
export function wordsOfIp(ip: string): AddressWords {
  const isV6 = writeIp(ip, bytes, 0) === V6_BYTES;
  if (!isV6) return { isV6, w0: 0, w1: 0, w2: 0, w3: view.getInt32(0) };
  const [w0, w1, w2, w3] = [0, 4, 8, 12].map((at) => view.getInt32(at));
  return { isV6, w0: w0 ?? 0, w1: w1 ?? 0, w2: w2 ?? 0, w3: w3 ?? 0 };
}

/** The canonical spelling of an address. */
export function ipOfWords({ isV6, w0, w1, w2, w3 }: AddressWords): string {
  if (!isV6) {
    view.setInt32(0, w3);
    return readIp(bytes, 0, V4_BYTES);
  }
  for (const [index, word] of [w0, w1, w2, w3].entries()) view.setInt32(index * 4, word);
  return readIp(bytes, 0, V6_BYTES);
}

export function sameWords(a: AddressWords, b: AddressWords): boolean {
  return a.isV6 === b.isV6 && a.w3 === b.w3 && a.w2 === b.w2 && a.w1 === b.w1 && a.w0 === b.w0;
}
