import { type Http2Stream, NO_OWNER, type StreamOwner } from "./http2-stream.ts";

/** How many ids of streams that were reset from here are remembered: what is on its way still comes. */
const MAX_REMEMBERED = 256;

/** The streams of one connection, from their opening to their ends. */
export class StreamTable {
  readonly #onClosed: (stream: Http2Stream) => void;
  readonly #open = new Map<number, Http2Stream>();
  readonly #resetHere = new Set<number>();
  /** The highest one that the client has opened; ids below it are used up. */
  lastId = 0;

  /** @param onClosed is told of each that is no more, after its owner. */
  constructor(onClosed: (stream: Http2Stream) => void) {
    this.#onClosed = onClosed;
  }

  get count(): number {
    return this.#open.size;
  }

  get(id: number): Http2Stream | undefined {
    return this.#open.get(id);
  }

  add(stream: Http2Stream): void {
    this.#open.set(stream.id, stream);
  }

  /** It is given up here: its owner is not told. */
  drop(stream: Http2Stream): void {
    if (stream.isClosed) return;
    this.#close(stream);
    this.#onClosed(stream);
  }

  /** It is no more, with the error code that its owner is told. */
  end(stream: Http2Stream, code: number): void {
    if (stream.isClosed) return;
    this.#close(stream).streamReset(code);
    this.#onClosed(stream);
  }

  endAll(code: number): void {
    for (const stream of this.all()) this.end(stream, code);
  }

  endWhenDone(stream: Http2Stream): void {
    if (!stream.isLocalEnded || !stream.isRemoteEnded || stream.isClosed) return;
    this.#close(stream).streamDone();
    this.#onClosed(stream);
  }

  /** A copy: streams come and go while it is looked at. */
  all(): readonly Http2Stream[] {
    return [...this.#open.values()];
  }

  /** Whether it can not have been used: clients have the odd numbers, and nobody pushes. */
  isIdle(id: number): boolean {
    return id > this.lastId || id % 2 === 0;
  }

  noteReset(id: number): void {
    this.#resetHere.add(id);
    if (this.#resetHere.size <= MAX_REMEMBERED) return;
    for (const oldest of this.#resetHere) {
      this.#resetHere.delete(oldest);
      return;
    }
  }

  /** Whether it was reset from here, a short while ago. */
  wasResetHere(id: number): boolean {
    return this.#resetHere.has(id);
  }

  /** Returns who owned it. */
  #close(stream: Http2Stream): StreamOwner {
    const { owner } = stream;
    stream.isClosed = true;
    stream.owner = NO_OWNER;
    this.#open.delete(stream.id);
    return owner;
  }
}
