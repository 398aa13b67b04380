/** How long an answer is waited for before it is asked again. */
const ASK_AGAIN_MS = 5000;
/** How long it is remembered that an address is nobody's. */
const NOBODY_MS = 10_000;
const MAX_REMEMBERED = 4096;

/**
 * Addresses in the range of services that the table does not have. Each is asked for once, and what nobody
 * has is remembered for a while: nothing waits meanwhile but its own packets.
 */
export class Lookups {
  /** When each was asked for. */
  readonly #asked = new Map<string, number>();
  readonly #nobody = new Map<string, number>();

  /** What to do with a packet to an address: it may wait, and perhaps somebody is to be asked. */
  note(ip: string, nowMs: number): "drop" | "wait" | "ask" {
    const untilMs = this.#nobody.get(ip);
    if (untilMs !== undefined && nowMs < untilMs) return "drop";
    const askedMs = this.#asked.get(ip);
    if (askedMs !== undefined && nowMs - askedMs < ASK_AGAIN_MS) return "wait";
    if (askedMs === undefined && this.#asked.size >= MAX_REMEMBERED) return "drop";
    this.#asked.set(ip, nowMs);
    return "ask";
  }

  /** It is in the table now. */
  found(ip: string): void {
    this.#asked.delete(ip);
    this.#nobody.delete(ip);
  }

  /** Nobody has it. */
  missed(ip: string, nowMs: number): void {
    this.#asked.delete(ip);
    this.#nobody.delete(ip);
    const [oldest] = this.#nobody.keys();
    if (this.#nobody.size >= MAX_REMEMBERED && oldest !== undefined) this.#nobody.delete(oldest);
    this.#nobody.set(ip, nowMs + NOBODY_MS);
  }

  /** Those that were asked for and not answered in time: they are forgotten, and may be asked for again. */
  expire(nowMs: number): readonly string[] {
    const late = [...this.#asked].filter(([, askedMs]) => nowMs - askedMs >= ASK_AGAIN_MS);
    for (const [ip] of late) this.#asked.delete(ip);
    return late.map(([ip]) => ip);
  }
}
