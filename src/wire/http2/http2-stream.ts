import type { FieldList } from "./hpack/field-list.ts";
import { CODE } from "./protocol.ts";

/** Is told what happens to a stream. After `isEnd` nothing more comes, after `streamReset` nothing is told. */
export interface StreamOwner {
  /** The head, or trailers, of a message; on a stream that the peer opened, only what follows its head. */
  fieldsArrived(fields: FieldList, isEnd: boolean): void;
  /** The bytes are good for the time of the call. They are to be told to `consumed` when they are used. */
  dataArrived(bytes: Buffer, start: number, end: number, isEnd: boolean): void;
  /** The stream is no more: the peer says so, or has broken a rule, or the connection is gone. */
  streamReset(code: number): void;
  /** Both sides have come to their ends. */
  streamDone(): void;
  /**
   * So many bytes have gone out that `send` had to keep, or the end alone; the last ones may be told after
   * `streamDone`.
   */
  dataSent(byteCount: number): void;
}

/** What a stream needs of its connection. */
export interface StreamHost {
  writeFields(stream: Http2Stream, block: Buffer, isEnd: boolean): void;
  /** Writes as much as windows and output allow: how many bytes. */
  writeData(stream: Http2Stream, bytes: Buffer, start: number, end: number, isEnd: boolean): number;
  /** The stream has kept something that goes out when it can. */
  noteKept(stream: Http2Stream): void;
  consumed(stream: Http2Stream, byteCount: number): void;
  reset(stream: Http2Stream, code: number): void;
  reject(stream: Http2Stream): void;
}

/** Says nothing to nobody. */
export const NO_OWNER: StreamOwner = {
  fieldsArrived: () => undefined,
  dataArrived: () => undefined,
  streamReset: () => undefined,
  streamDone: () => undefined,
  dataSent: () => undefined,
};

const UNKNOWN = -1;

/** One stream of a connection, from this side. */
export class Http2Stream {
  readonly id: number;
  owner: StreamOwner = NO_OWNER;
  /** For the connection. */
  sendWindow: number;
  receiveWindow: number;
  /** Bytes that were used and that the peer may send again, but was not told so yet. */
  uncredited = 0;
  /** Bytes that came and were not used yet. */
  unconsumed = 0;
  isRemoteEnded = false;
  isLocalEnded = false;
  isClosed = false;
  isQueued = false;
  /** How much the head said would come; -1 where it did not. */
  announcedBytes: number = UNKNOWN;
  receivedBytes = 0;
  readonly #host: StreamHost;
  #kept: Buffer[] = [];
  #isEndKept = false;
  #keptTrailers: Buffer | undefined;

  constructor(
    host: StreamHost,
    id: number,
    windows: { readonly send: number; readonly receive: number },
  ) {
    this.#host = host;
    this.id = id;
    this.sendWindow = windows.send;
    this.receiveWindow = windows.receive;
  }

  /** Whether something waits for a window or for room. */
  get hasKept(): boolean {
    return this.#kept.length > 0 || this.#isEndKept || this.#keptTrailers !== undefined;
  }

  /** Whether all came that the head announced. */
  get isAsAnnounced(): boolean {
    return this.announcedBytes === UNKNOWN || this.announcedBytes === this.receivedBytes;
  }

  /** Sends a block of `HeaderBlockWriter`, after all that was sent before. */
  sendFields(block: Buffer, isEnd: boolean): void {
    if (this.isClosed) return;
    if (this.hasKept) this.#keptTrailers = Buffer.from(block);
    else this.#host.writeFields(this, block, isEnd);
  }

  /** Takes all of it; how much went out at once. The rest is kept, and told to `dataSent`. */
  send(bytes: Buffer, start: number, end: number, isEnd: boolean): number {
    if (this.isClosed) return end - start;
    const sent = this.hasKept ? 0 : this.#host.writeData(this, bytes, start, end, isEnd);
    const isDone = sent === end - start && (!isEnd || this.isLocalEnded);
    if (isDone || this.isClosed) return sent;
    if (start + sent < end) this.#kept.push(Buffer.from(bytes.subarray(start + sent, end)));
    this.#isEndKept = isEnd;
    this.#host.noteKept(this);
    return sent;
  }

  /** For the connection: sends one frame of what is kept, where it can. False: it could not. */
  sendKept(): boolean {
    const [first] = this.#kept;
    const { owner } = this;
    if (first === undefined) return this.#sendKeptEnd();
    const isEnd = this.#isEndKept && this.#kept.length === 1;
    const sent = this.#host.writeData(this, first, 0, first.length, isEnd);
    if (sent === 0) return false;
    if (sent < first.length) this.#kept[0] = first.subarray(sent);
    else this.#kept.shift();
    if (this.isLocalEnded) this.#isEndKept = false;
    owner.dataSent(sent);
    return true;
  }

  /** So many bytes that came are used: the peer may send as many again. */
  consumed(byteCount: number): void {
    if (!this.isClosed) this.#host.consumed(this, byteCount);
  }

  /** Gives it up; the owner is not told. Nothing happens where both sides have ended. */
  reset(code: number = CODE.CANCEL): void {
    const isDone = this.isLocalEnded && this.isRemoteEnded;
    if (!this.isClosed && !isDone) this.#host.reset(this, code);
  }

  /** The peer has sent something malformed on it; one that does so again and again is cut off. */
  reject(): void {
    if (!this.isClosed) this.#host.reject(this);
  }

  #sendKeptEnd(): boolean {
    const { owner } = this;
    const trailers = this.#keptTrailers;
    this.#keptTrailers = undefined;
    if (trailers !== undefined) this.#host.writeFields(this, trailers, true);
    else if (this.#isEndKept) this.#host.writeData(this, NO_BYTES, 0, 0, true);
    if (!this.isLocalEnded) return false;
    this.#isEndKept = false;
    owner.dataSent(0);
    return true;
  }
}

const NO_BYTES = Buffer.alloc(0);
