import type { NetlinkAnswer, NetlinkRequest } from "./netlink-socket.ts";

const WHOLE: NetlinkAnswer = { failures: [], isInterrupted: false, isOverrun: false };

/** A kernel that answers dumps as it is told: one after the other, the last one again and again. */
export class FakeDumpSocket {
  readonly #answers: readonly Partial<NetlinkAnswer>[];
  readonly #message: DataView;
  /** How often it was asked. */
  count = 0;
  isOpen = true;

  /** @param message that each answer has one of */
  constructor(answers: readonly Partial<NetlinkAnswer>[], message: Uint8Array) {
    this.#answers = answers;
    this.#message = new DataView(message.buffer, message.byteOffset, message.byteLength);
  }

  exchange({ onMessage }: NetlinkRequest): Promise<NetlinkAnswer> {
    const answer = this.#answers[Math.min(this.count, this.#answers.length - 1)];
    this.count += 1;
    onMessage?.(this.#message, 0, this.#message.byteLength, 0);
    return Promise.resolve({ ...WHOLE, ...answer });
  }

  close(): void {
    this.isOpen = false;
  }
}
