/** The part of a `FileHandle` that this needs; tests give their own. */
export interface RawFile {
  write(
    bytes: Buffer,
    from: number,
    length: number,
    at: number,
  ): Promise<{ readonly bytesWritten: number }>;
  truncate(size: number): Promise<void>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** A file that grows by whole pieces: each is on the disk when its append settles, or not there at all. */
export class AppendFile {
  readonly #file: RawFile;
  #size: number;
  /** Whether half of a piece may stand at its end. */
  #isDirty = false;

  /** @param size how much of it is whole; anything behind that is cut off */
  constructor(file: RawFile, size: number) {
    this.#file = file;
    this.#size = size;
  }

  get size(): number {
    return this.#size;
  }

  /** @param parts what comes to one piece */
  async append(...parts: readonly string[]): Promise<void> {
    if (this.#isDirty) await this.cut();
    this.#isDirty = true;
    let size = this.#size;
    try {
      for (const part of parts) size += await this.#write(Buffer.from(part, "utf8"), size);
      await this.#file.datasync();
    } catch (error) {
      // Where this fails, too, it is done before the next append.
      await this.cut().catch(() => undefined);
      throw error;
    }
    this.#size = size;
    this.#isDirty = false;
  }

  /** Removes what stands behind the last whole piece. */
  async cut(): Promise<void> {
    await this.#file.truncate(this.#size);
    await this.#file.datasync();
    this.#isDirty = false;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #write(bytes: Buffer, at: number): Promise<number> {
    let done = 0;
    while (done < bytes.length) {
      const left = bytes.length - done;
      const { bytesWritten } = await this.#file.write(bytes, done, left, at + done);
      done += bytesWritten;
    }
    return done;
  }
}
