import { encode } from "dns-packet";
import { FLAG_AUTHORITATIVE, MAX_UDP_BYTES } from "../../wire/dns/dns-words.ts";

/** Addresses of names below `.local`, in lower case. */
export type LocalNames = ReadonlyMap<string, readonly AddressAnswer[]>;

export interface AddressAnswer {
  readonly type: "A" | "AAAA";
  readonly name: string;
  readonly ttl: number;
  readonly data: string;
  /** What was known before is to be forgotten for it. */
  readonly flush?: boolean;
}

/** RFC 6762 section 8.3: it is said twice, a second apart. */
export const REPEAT_MS = 1000;
const GOODBYE = 0;

/**
 * Tells all on a link what names there are: new ones and those with other addresses twice, those that are gone
 * once, with no time to live (RFC 6762 sections 8.3, 8.4 and 10.1).
 */
export class MdnsAnnouncer {
  #told: LocalNames = new Map();
  /** When names are to be told once more. */
  readonly #repeatsMs = new Map<string, number>();

  /** @returns the messages that are due now */
  next(now: LocalNames, nowMs: number): readonly Buffer[] {
    const groups: AddressAnswer[][] = [];
    for (const [name, answers] of this.#told) {
      const left = new Set((now.get(name) ?? []).map(({ type }) => type));
      // Where others of the type come in their place, these are forgotten for them.
      const gone = answers.filter(({ type }) => !left.has(type));
      if (gone.length > 0) groups.push(gone.map((answer) => ({ ...answer, ttl: GOODBYE })));
      if (!now.has(name)) this.#repeatsMs.delete(name);
    }
    for (const [name, answers] of now) {
      const isNew = textOf(answers) !== textOf(this.#told.get(name) ?? []);
      const dueMs = this.#repeatsMs.get(name);
      if (isNew) this.#repeatsMs.set(name, nowMs + REPEAT_MS);
      else if (dueMs === undefined || nowMs < dueMs) continue;
      else this.#repeatsMs.delete(name);
      groups.push(answers.map((answer) => ({ ...answer, flush: true })));
    }
    this.#told = now;
    return messagesOf(groups);
  }

  /** When something is to be told again; undefined where nothing is. */
  get dueMs(): number | undefined {
    return this.#repeatsMs.size === 0 ? undefined : Math.min(...this.#repeatsMs.values());
  }
}

/** In whatever order they are. */
function textOf(answers: readonly AddressAnswer[]): string {
  return answers
    .map(({ data }) => data)
    .sort()
    .join();
}

/** As few as hold all; those of one name stay together, as far as they fit. */
function messagesOf(groups: readonly (readonly AddressAnswer[])[]): readonly Buffer[] {
  const messages: Buffer[] = [];
  let gathered: readonly AddressAnswer[] = [];
  for (const group of groups) {
    const more = [...gathered, ...group];
    if (gathered.length > 0 && render(more).length > MAX_UDP_BYTES) {
      messages.push(...cut(gathered));
      gathered = group;
    } else gathered = more;
  }
  return gathered.length === 0 ? messages : [...messages, ...cut(gathered)];
}

function cut(answers: readonly AddressAnswer[]): readonly Buffer[] {
  const whole = render(answers);
  if (whole.length <= MAX_UDP_BYTES || answers.length < 2) return [whole];
  const half = Math.ceil(answers.length / 2);
  return [...cut(answers.slice(0, half)), ...cut(answers.slice(half))];
}

function render(answers: readonly AddressAnswer[]): Buffer {
  return encode({ type: "response", id: 0, flags: FLAG_AUTHORITATIVE, answers: [...answers] });
}
