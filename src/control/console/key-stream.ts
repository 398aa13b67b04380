import { Transform, type TransformCallback } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** What a terminal offers besides its bytes. */
interface RawInput {
  setRawMode?(mode: boolean): unknown;
}

/**
 * Hands what is typed on key by key. Readline takes several at once for a paste, puts them at the end of
 * the line wherever the cursor is, and loses count of its rows. A Tab within a paste becomes a space: it
 * asks for nothing.
 */
export class KeyStream extends Transform {
  readonly #source: NodeJS.ReadableStream & RawInput;
  readonly #decoder = new StringDecoder("utf8");

  constructor(source: NodeJS.ReadableStream & RawInput) {
    super({ readableObjectMode: true, decodeStrings: false });
    this.#source = source;
    source.pipe(this);
  }

  /** Readline switches it as it needs it. */
  setRawMode(mode: boolean): void {
    this.#source.setRawMode?.(mode);
  }

  /** Leaves the terminal to others. */
  release(): void {
    this.#source.unpipe(this);
    this.#source.pause();
  }

  override _transform(chunk: Buffer | string, _: BufferEncoding, done: TransformCallback): void {
    const text = typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
    for (const key of text.replace(/\t(?=[^\t])/g, " ")) this.push(key);
    done();
  }
}
