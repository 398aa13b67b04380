import type { Token } from "./tokenize.ts";

/** A place in the tokens of a line. */
export class TokenCursor {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  /** The next token, which is then behind; undefined at the end. */
  next(): Token | undefined {
    const token = this.peek();
    if (token !== undefined) this.#at += 1;
    return token;
  }
}
