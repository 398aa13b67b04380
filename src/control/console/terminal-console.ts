import {
  clearScreenDown,
  createInterface,
  cursorTo,
  type Interface,
  moveCursor,
} from "node:readline";
import { Turns } from "../../core/turns.ts";
import type { ConsoleSession } from "./console-session.ts";
import { loadHistory, MAX_HISTORY, saveHistory } from "./history.ts";
import { KeyStream } from "./key-stream.ts";
import { type RenderOptions, renderFailure, renderResult } from "./render-result.ts";
import { isEndWord, isNoCommand } from "./script-console.ts";
import { visibleText } from "./visible-text.ts";

export interface TerminalOptions {
  readonly session: ConsoleSession;
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly columns?: number };
  readonly json: boolean;
  readonly hasColours: boolean;
  /** Undefined: what is typed is forgotten. */
  readonly historyFile: string | undefined;
  readonly signal: AbortSignal | undefined;
}

const PROMPT = "> ";
const DEFAULT_WIDTH = 80;
const END_HINT = "(Ctrl-C again, Ctrl-D or exit ends the console)\n";

/** Commands typed by a person, until that one goes. @returns the exit code */
export async function runTerminal(options: TerminalOptions): Promise<number> {
  const { historyFile } = options;
  const history = historyFile === undefined ? [] : await loadHistory(historyFile);
  const terminal = new TerminalConsole(options, history);
  await terminal.over;
  return 0;
}

class TerminalConsole {
  /** Settles when the person has gone and what was asked is answered. */
  readonly over: Promise<void>;
  readonly #options: TerminalOptions;
  readonly #keys: KeyStream;
  readonly #readline: Interface;
  readonly #turns = new Turns();
  readonly #saving = new Turns();
  /** Commands that are not answered yet. */
  #pending = 0;
  #isClosed = false;
  /** Whether the next Ctrl-C ends it. */
  #isEnding = false;

  constructor(options: TerminalOptions, history: string[]) {
    this.#options = options;
    const { input, output, historyFile, session } = options;
    this.#keys = new KeyStream(input);
    this.#readline = createInterface({
      input: this.#keys,
      output,
      terminal: true,
      prompt: PROMPT,
      history,
      historySize: MAX_HISTORY,
      removeHistoryDuplicates: true,
      completer: (line: string, callback: CompleterCallback) => {
        void completions(session, line).then((found) => callback(null, found));
      },
    });
    this.#readline.on("line", (line) => this.#enter(line.trim()));
    this.#readline.on("SIGINT", () => this.#interrupt());
    this.#readline.on("history", (lines) => {
      if (historyFile === undefined) return;
      // To remember is a convenience: a disk that is full must not be in the way.
      this.#saving.take(() => saveHistory(historyFile, lines)).catch(() => undefined);
    });
    this.over = this.#untilOver();
    options.signal?.addEventListener("abort", () => this.#readline.close(), { once: true });
    this.#readline.prompt();
    if (session.events !== undefined) void this.#showEvents(session.events);
  }

  async #untilOver(): Promise<void> {
    await new Promise<void>((resolve) => this.#readline.once("close", resolve));
    this.#isClosed = true;
    this.#keys.release();
    // What comes after must not stand behind the prompt.
    if (this.#pending === 0) this.#options.output.write("\n");
    await this.#turns.over();
    await this.#saving.over();
  }

  #enter(line: string): void {
    this.#isEnding = false;
    this.#pending += 1;
    void this.#turns
      .take(() => this.#carryOut(line))
      .then(() => {
        this.#pending -= 1;
        if (this.#pending === 0 && !this.#isClosed) this.#readline.prompt(true);
      });
  }

  async #carryOut(line: string): Promise<void> {
    if (isNoCommand(line)) return;
    if (isEndWord(line)) {
      this.#readline.close();
      return;
    }
    const { session } = this.#options;
    const text = await session.run(line).then(
      (result) => renderResult(result, this.#rendering()),
      (error: unknown) => renderFailure(error, this.#rendering()),
    );
    this.#print(text);
  }

  #rendering(): RenderOptions {
    const { json, hasColours, output } = this.#options;
    return { json, hasColours, width: output.columns ?? DEFAULT_WIDTH };
  }

  async #showEvents(events: AsyncIterable<string>): Promise<void> {
    try {
      for await (const text of events) {
        if (this.#isClosed) return;
        this.#print(`${visibleText(text)}\n`);
      }
    } catch (error) {
      if (!this.#isClosed) this.#print(renderFailure(error, this.#rendering()));
    }
  }

  /** Prints above the line that is being typed, which stays as it is. */
  #print(text: string): void {
    const { output } = this.#options;
    if (this.#isClosed) {
      output.write(text);
      return;
    }
    const { rows } = this.#readline.getCursorPos();
    moveCursor(output, 0, -rows);
    cursorTo(output, 0);
    clearScreenDown(output);
    // The line is drawn so many rows higher than the cursor is, where it was longer than one.
    output.write(this.#pending === 0 ? text + "\n".repeat(rows) : text);
    if (this.#pending === 0) this.#readline.prompt(true);
  }

  /** Ctrl-C takes back what is being typed; the second in a row ends the console. */
  #interrupt(): void {
    if (this.#isEnding) {
      this.#readline.close();
      return;
    }
    this.#isEnding = true;
    this.#readline.write(null, { ctrl: true, name: "e" });
    this.#readline.write(null, { ctrl: true, name: "u" });
    this.#print(END_HINT);
  }
}

type CompleterCallback = (error: null, result: [string[], string]) => void;

/** Readline's form: whole words in place of the last one, with the space that comes after it. */
async function completions(session: ConsoleSession, line: string): Promise<[string[], string]> {
  const last = /\S*$/.exec(line)?.[0] ?? "";
  // Who types goes on typing where nobody can be asked.
  const words = await session.complete(line).catch(() => []);
  const fitting = words.filter((word) => word.startsWith(last));
  return [fitting.map((word) => `${word} `), last];
}
