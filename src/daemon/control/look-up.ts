import { lookup } from "node:dns/promises";
import { CoreError } from "../../core/errors.ts";
import { canonicalIp } from "../../core/model/address.ts";

/** How the system's resolver is asked; another way is for tests. */
export type AskResolver = (name: string) => Promise<readonly { readonly address: string }[]>;

export interface LookUpOptions {
  readonly ask?: AskResolver;
  readonly limitMs?: number;
}

const LIMIT_MS = 5_000;
/** Each holds one of the few threads that files need as well, for as long as the resolver takes. */
const AT_ONCE = 2;

/** Asks for the addresses of names as the system does; nobody waits longer than the limit. */
export class LookUp {
  readonly #ask: AskResolver;
  readonly #limitMs: number;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;

  constructor({ ask = askSystem, limitMs = LIMIT_MS }: LookUpOptions = {}) {
    this.#ask = ask;
    this.#limitMs = limitMs;
  }

  /** @throws CoreError ERR_NOT_FOUND */
  async addressesOf(name: string): Promise<readonly string[]> {
    const limit = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        limit.abort();
        reject(new Error(`no answer within ${this.#limitMs / 1000} s; try again later`));
      }, this.#limitMs);
    });
    try {
      const found = await Promise.race([late, this.#inTurn(name, limit.signal)]);
      return [...new Set(found.map(({ address }) => canonicalIp(address) ?? address))];
    } catch (cause) {
      throw new CoreError("ERR_NOT_FOUND", `no address is known for "${name}" (${why(cause)})`, {
        cause,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** A turn is over when the resolver has answered: it can not be called back. */
  async #inTurn(name: string, signal: AbortSignal): ReturnType<AskResolver> {
    if (this.#underWay === AT_ONCE) await new Promise<void>((next) => this.#waiting.push(next));
    else this.#underWay += 1;
    try {
      return signal.aborted ? [] : await this.#ask(name);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#underWay -= 1;
      else next();
    }
  }
}

function askSystem(name: string): ReturnType<AskResolver> {
  return lookup(name, { all: true });
}

function why(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause ? String(cause.code) : cause.message;
}
