import type { StreamFd } from "../../net/fd.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { Cancellable, ChannelId, ReadyHandler } from "../../net/selector-event-loop.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import { patternBytes } from "./pattern.fixture.ts";

/** What comes before the bytes that are echoed. */
export interface CallForm {
  readonly kind: "tcp" | "http" | "socks5";
  /** Said first. */
  head(byteCount: number): Uint8Array;
  /** How long the answer's head is; undefined while it is not all there; a text where it is a refusal. */
  readHead(bytes: Uint8Array): number | undefined | string;
  /** Whether the answer ends with the stream; otherwise with its last byte. */
  readonly endsWithStream: boolean;
}

export interface CallPlan {
  readonly id: number;
  readonly form: CallForm;
  readonly byteCount: number;
  /** Reads so much at a time, and then pauses; 0: all there is, at once. */
  readonly readBytes: number;
}

export interface CallResult {
  readonly plan: CallPlan;
  /** Empty where all came back; otherwise why not, which may be. */
  readonly failure: string;
  /** What must never be. */
  readonly wrong: string;
}

const WRITE_BYTES = 10_000;
const READ_BYTES = 65_536;
const PAUSE_MS = 40;
/** Where the network was cut for long, nobody tells it that the other side is gone. */
const PATIENCE_MS = 120_000;

/** A client whose bytes are to come back: it checks each of them. */
export class SimulatedCall implements ReadyHandler {
  readonly #net: NetEventLoop;
  readonly #fd: StreamFd;
  readonly #plan: CallPlan;
  readonly #onEnd: (result: CallResult) => void;
  readonly #id: ChannelId | undefined;
  #head: Uint8Array;
  #sent = 0;
  #isHeadRead = false;
  #early: Uint8Array = new Uint8Array(0);
  #heard = 0;
  #isShut = false;
  #isOver = false;
  readonly #patience: Cancellable;

  constructor(
    net: NetEventLoop,
    to: SocketAddress,
    plan: CallPlan,
    onEnd: (result: CallResult) => void,
  ) {
    this.#net = net;
    this.#plan = plan;
    this.#onEnd = onEnd;
    this.#head = plan.form.head(plan.byteCount);
    this.#fd = net.provider.connect(to);
    this.#id = net.loop.add(this.#fd, this);
    this.#patience = net.loop.delay(PATIENCE_MS, () => this.#end("no answer", ""));
  }

  /** The client goes away in the middle. */
  reset(): void {
    if (this.#isOver) return;
    this.#fd.reset();
    this.#end("reset by itself", "");
  }

  onReady(): void {
    if (this.#isOver) return;
    const opened = this.#fd.finishOpen();
    if (opened === -ERRNO.EINPROGRESS) return;
    if (opened < 0) {
      this.#end(errnoName(opened), "");
      return;
    }
    this.#write();
    this.#read();
  }

  onRemoved(): void {
    this.#end("the loop ended", "");
  }

  #write(): void {
    while (!this.#isOver && this.#fd.writable && !this.#isShut) {
      const chunk = this.#nextChunk();
      if (chunk === undefined) return;
      const region = { bytes: chunk, address: 0 };
      const count = this.#fd.write(region, 0, chunk.length);
      if (count < 0) return;
      if (this.#head.length > 0) this.#head = this.#head.subarray(count);
      else this.#sent += count;
      if (this.#head.length === 0 && this.#sent === this.#plan.byteCount) this.#shut();
    }
  }

  /** Whoever has to be let in first waits for that. */
  #nextChunk(): Uint8Array | undefined {
    if (this.#head.length > 0) return this.#head;
    const { id, byteCount, form } = this.#plan;
    if (form.kind === "socks5" && !this.#isHeadRead) return undefined;
    return patternBytes(id, this.#sent, Math.min(WRITE_BYTES, byteCount - this.#sent));
  }

  #shut(): void {
    this.#isShut = true;
    if (this.#plan.form.endsWithStream) this.#fd.shutdownWrite();
  }

  #read(): void {
    const { readBytes } = this.#plan;
    const { scratch } = this.#net;
    while (!this.#isOver && this.#fd.readable) {
      const count = this.#fd.read(scratch, 0, readBytes === 0 ? READ_BYTES : readBytes);
      if (count > 0) this.#take(scratch.bytes.slice(0, count));
      else if (count === 0) this.#ended();
      else if (count === -ERRNO.EAGAIN) return;
      else this.#end(errnoName(count), "");
      if (readBytes === 0 || this.#isOver) continue;
      this.#net.loop.delay(PAUSE_MS, () => this.onReady());
      return;
    }
  }

  #take(chunk: Uint8Array): void {
    if (this.#isHeadRead) {
      this.#check(chunk);
      return;
    }
    this.#early = Buffer.concat([this.#early, chunk]);
    const head = this.#plan.form.readHead(this.#early);
    if (typeof head === "string") this.#end(head, "");
    if (typeof head !== "number") return;
    this.#isHeadRead = true;
    this.#check(this.#early.subarray(head));
    this.#write();
  }

  #check(chunk: Uint8Array): void {
    const { id, byteCount, form } = this.#plan;
    const expected = patternBytes(id, this.#heard, chunk.length);
    const isTooMuch = this.#heard + chunk.length > byteCount;
    if (isTooMuch || !expected.equals(chunk)) {
      const place = `${this.#heard} to ${this.#heard + chunk.length} of ${byteCount}`;
      this.#end("wrong", `call ${id} (${form.kind}): bytes ${place} are wrong`);
      return;
    }
    this.#heard += chunk.length;
    if (this.#heard === byteCount && !form.endsWithStream) this.#end("", "");
  }

  #ended(): void {
    const { id, byteCount, form } = this.#plan;
    if (this.#heard === byteCount && this.#isHeadRead) this.#end("", "");
    else if (!form.endsWithStream || !this.#isHeadRead) this.#end("ended early", "");
    else this.#end("lost", `call ${id} (${form.kind}): ended after ${this.#heard} of ${byteCount}`);
  }

  #end(failure: string, wrong: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#patience.cancel();
    this.#fd.close();
    if (this.#id !== undefined) this.#net.loop.remove(this.#id);
    this.#onEnd({ plan: this.#plan, failure, wrong });
  }
}
