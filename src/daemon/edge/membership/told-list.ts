import type { Log } from "../../../core/log.ts";

/** Warns of what is not as it should be, each time that it is something else, and not where it is nothing. */
export class ToldList {
  readonly #log: Pick<Log, "warn">;
  readonly #field: string;
  readonly #message: string;
  #told = "";

  /** @param field what the lines are in the log */
  constructor(log: Pick<Log, "warn">, field: string, message: string) {
    this.#log = log;
    this.#field = field;
    this.#message = message;
  }

  tell(lines: readonly string[]): void {
    const text = lines.join("\n");
    if (text !== this.#told && text !== "") this.#log.warn({ [this.#field]: lines }, this.#message);
    this.#told = text;
  }
}
