import { ENDLESS_FRAME, PONG_FRAME } from "./websocks-words.ts";

export type FrameOutcome =
  /** @property pongs how many keep-alives were read */
  | { readonly kind: "more"; readonly pongs: number }
  | { readonly kind: "frame"; readonly rest: Buffer }
  | { readonly kind: "bad"; readonly reason: string };

const NO_BYTES = Buffer.alloc(0);

/** Reads what a client says after the upgrade: any number of PONGs, then the head of the frame. */
export class FrameReader {
  #bytes: Buffer = NO_BYTES;

  feed(chunk: Buffer): FrameOutcome {
    let bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    let pongs = 0;
    while (startsWith(bytes, PONG_FRAME)) {
      bytes = bytes.subarray(PONG_FRAME.length);
      pongs += 1;
    }
    this.#bytes = bytes;
    if (startsWith(bytes, ENDLESS_FRAME)) {
      return { kind: "frame", rest: bytes.subarray(ENDLESS_FRAME.length) };
    }
    const isBeginning = startsWith(ENDLESS_FRAME, bytes) || startsWith(PONG_FRAME, bytes);
    if (isBeginning) return { kind: "more", pongs };
    return { kind: "bad", reason: "neither a PONG nor the binary frame of WebSocks" };
  }
}

function startsWith(bytes: Buffer, beginning: Buffer): boolean {
  return bytes.length >= beginning.length && bytes.subarray(0, beginning.length).equals(beginning);
}
