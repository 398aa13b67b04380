import { Writable } from "node:stream";

/** Codes that move, codes that colour, and characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal is told begins so
const PARTS = /\u001b\[(\d*)([A-Z])|\u001b\[\d*m|[\s\S]/gu;

/** A terminal of so many columns, as far as readline makes use of one. */
export class Screen extends Writable {
  readonly columns: number;
  readonly isTTY = true;
  /** Everything that was written, as it was. */
  written = "";
  readonly #rows: string[][] = [[]];
  #row = 0;
  #column = 0;
  #onNews: () => void = () => undefined;

  constructor(columns: number) {
    super({ decodeStrings: false });
    this.columns = columns;
  }

  override _write(text: string | Buffer, _encoding: string, done: () => void): void {
    this.written += String(text);
    this.#interpret(String(text));
    this.#onNews();
    done();
  }

  /** What is to be seen, without the rows below the last that holds something. */
  get text(): string {
    return this.#rows
      .map((row) => row.join("").trimEnd())
      .join("\n")
      .trimEnd();
  }

  /** Where the cursor is: row and column from 0. */
  get cursor(): readonly [number, number] {
    return [this.#row, this.#column];
  }

  async waitFor(text: string | RegExp): Promise<void> {
    while (typeof text === "string" ? this.text !== text : !text.test(this.text)) {
      await new Promise<void>((resolve) => {
        this.#onNews = resolve;
      });
    }
  }

  #interpret(text: string): void {
    for (const [part, count, letter] of text.matchAll(PARTS)) {
      if (letter !== undefined) this.#control(letter, count ?? "");
      else if (part === "\n") this.#moveTo(this.#row + 1, 0);
      else if (part === "\r") this.#moveTo(this.#row, 0);
      else if (!part.startsWith("\u001b")) this.#put(part);
    }
  }

  #control(letter: string, count: string): void {
    const many = count === "" ? 1 : Number(count);
    if (letter === "A") this.#moveTo(Math.max(0, this.#row - many), this.#column);
    else if (letter === "B") this.#moveTo(this.#row + many, this.#column);
    else if (letter === "C") this.#moveTo(this.#row, this.#column + many);
    else if (letter === "D") this.#moveTo(this.#row, Math.max(0, this.#column - many));
    else if (letter === "G") this.#moveTo(this.#row, many - 1);
    else if (letter === "J") this.#clearDown();
    else if (letter === "K") this.#rows[this.#row]?.splice(this.#column);
    else throw new Error(`a terminal code that the screen does not know: ${letter}`);
  }

  #clearDown(): void {
    this.#rows[this.#row]?.splice(this.#column);
    this.#rows.splice(this.#row + 1);
  }

  #put(char: string): void {
    if (this.#column >= this.columns) this.#moveTo(this.#row + 1, 0);
    const row = this.#rows[this.#row] ?? [];
    while (row.length < this.#column) row.push(" ");
    row[this.#column] = char;
    this.#column += 1;
  }

  #moveTo(row: number, column: number): void {
    this.#row = row;
    this.#column = column;
    while (this.#rows.length <= row) this.#rows.push([]);
  }
}
