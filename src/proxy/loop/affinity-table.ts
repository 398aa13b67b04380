import { serverKey } from "../balance/server.ts";
import type { ServerId } from "./engine-messages.ts";

interface Entry {
  readonly id: ServerId;
  /** When it was chosen. */
  readonly sinceMs: number;
  usedMs: number;
  /** When the other loops were last told. */
  toldMs: number;
}

/** The other loops are told again when so much of the time-out has passed. */
const TELL_SHARE = 0.25;
/** Within this time two loops have chosen at once. */
const RACE_MS = 1000;

/**
 * Which server each client stays with, until it has not come for the time-out. Each loop has a table;
 * they tell each other, and where two chose differently at once, the smaller key wins in both.
 */
export class AffinityTable {
  readonly #nowMs: () => number;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>();
  #timeoutMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  setTimeoutMs(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs;
    if (timeoutMs === 0) this.#entries.clear();
  }

  get size(): number {
    return this.#entries.size;
  }

  find(client: string): ServerId | undefined {
    this.#forgetOld();
    return this.#entries.get(client)?.id;
  }

  /** The client uses the server now. True where the other loops are to be told. */
  note(client: string, id: ServerId): boolean {
    const nowMs = this.#nowMs();
    const known = this.#entries.get(client);
    const isSame = known !== undefined && isSameServer(known.id, id);
    const isNews = !isSame || nowMs - known.toldMs >= this.#timeoutMs * TELL_SHARE;
    const sinceMs = isSame ? known.sinceMs : nowMs;
    this.#put(client, { id, sinceMs, usedMs: nowMs, toldMs: isNews ? nowMs : known.toldMs });
    return isNews;
  }

  /** Another loop said so. */
  noteElsewhere(client: string, id: ServerId): void {
    const nowMs = this.#nowMs();
    this.#forgetOld();
    const known = this.#entries.get(client);
    const isRace = known !== undefined && nowMs - known.sinceMs < RACE_MS;
    const kept = isRace && keyOf(known.id) < keyOf(id) ? known.id : id;
    this.#put(client, { id: kept, sinceMs: nowMs, usedMs: nowMs, toldMs: nowMs });
  }

  #put(client: string, entry: Entry): void {
    this.#entries.delete(client);
    if (this.#timeoutMs > 0) this.#entries.set(client, entry);
  }

  #forgetOld(): void {
    const oldestMs = this.#nowMs() - this.#timeoutMs;
    for (const [client, { usedMs }] of this.#entries) {
      if (usedMs > oldestMs) return;
      this.#entries.delete(client);
    }
  }
}

function isSameServer(a: ServerId, b: ServerId): boolean {
  return a.group === b.group && a.member === b.member && keyOf(a) === keyOf(b);
}

function keyOf({ address, port }: ServerId): string {
  return serverKey(address, port);
}
