import type { CliInput, CliOutput } from "../command-spec.ts";

/** Of ECMA-48 and xterm: the other screen, and no cursor; then back. */
const OPEN = "\u001b[?1049h\u001b[?25l";
const CLOSE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const REST_OF_LINE = "\u001b[K";
const REST_OF_SCREEN = "\u001b[J";

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

export interface ScreenEvents {
  /** Of the keyboard, as the terminal sends it. */
  readonly onKey: (key: string) => void;
  readonly onResize: () => void;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export function sizeOf({ columns, rows }: CliOutput): ScreenSize {
  return { columns: columns ?? DEFAULT_COLUMNS, rows: rows ?? DEFAULT_ROWS };
}

/** The whole terminal, from now until `close`: then it is as it was. */
export class Screen {
  readonly #stdout: CliOutput;
  readonly #stdin: CliInput | undefined;
  readonly #onData: (data: Buffer | string) => void;
  readonly #onResize: () => void;
  #isOpen = true;

  constructor(stdout: CliOutput, stdin: CliInput | undefined, events: ScreenEvents) {
    this.#stdout = stdout;
    this.#stdin = stdin;
    this.#onResize = events.onResize;
    this.#onData = (data) => {
      for (const key of String(data)) events.onKey(key);
    };
    stdout.write(OPEN);
    stdout.on("resize", this.#onResize);
    if (stdin?.isTTY !== true) return;
    stdin.setRawMode?.(true);
    stdin.on("data", this.#onData);
    stdin.resume();
  }

  /** No more lines than it has rows. */
  draw(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    const text = lines.map((line) => `${line}${REST_OF_LINE}`).join("\r\n");
    this.#stdout.write(`${HOME}${text}${REST_OF_SCREEN}`);
  }

  /** May be called more than once. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#stdout.off("resize", this.#onResize);
    if (this.#stdin?.isTTY === true) {
      this.#stdin.off("data", this.#onData);
      this.#stdin.setRawMode?.(false);
      this.#stdin.pause();
    }
    this.#stdout.write(CLOSE);
  }
}
