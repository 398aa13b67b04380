import { type Answer, encode } from "dns-packet";
import { readDnsQuery } from "../../wire/dns/dns-query.ts";
import { renderDnsReply } from "../../wire/dns/dns-reply.ts";
import { CLASS_IN, FLAG_AUTHORITATIVE, MAX_UDP_BYTES } from "../../wire/dns/dns-words.ts";
import { type KnownAddress, MDNS_CLASS_BIT, readMdnsQuery } from "../../wire/dns/mdns-query.ts";
import type { EdgeNames, NameAnswer } from "./edge-names.ts";

export const MDNS_PORT = 5353;

/** To all on the link, or to the one who asked. */
export interface MdnsReply {
  readonly bytes: Buffer;
  readonly to: "link" | "sender";
}

/** So often at most the same is said to all (RFC 6762 section 6). */
const PAUSE_MS = 1000;
const MAX_SAID = 1024;
const LOCAL = /\.local$/i;

/** Answers those who ask on the link for names below `.local`. Of what it does not know it is silent. */
export class MdnsResponder {
  readonly #names: EdgeNames;
  /** When an answer was last told to all, by name and type; the oldest first. */
  readonly #saidMs = new Map<string, number>();

  constructor(names: EdgeNames) {
    this.#names = names;
  }

  /** Names below `.local` that a message asks for. */
  namesIn(bytes: Buffer): readonly string[] {
    const names = (readMdnsQuery(bytes)?.questions ?? []).map(({ name }) => name);
    return names.filter((name) => LOCAL.test(name));
  }

  answer(bytes: Buffer, senderPort: number, nowMs: number): MdnsReply | undefined {
    if (senderPort !== MDNS_PORT) return this.#answerSimple(bytes);
    const query = readMdnsQuery(bytes);
    if (query === undefined) return undefined;
    const { questions, known } = query;
    const isToSender = questions.every(({ wantsUnicast }) => wantsUnicast);
    const told = questions.flatMap((question) => {
      const found = this.#find(question);
      if (found === undefined || (!isToSender && !this.#mayTell(question, nowMs))) return [];
      const answers = found.answers.filter((answer) => !isKnown(answer, known));
      if (answers.length > 0 && !isToSender) this.#note(question, nowMs);
      return answers.length > 0 ? [{ ...found, answers }] : [];
    });
    if (told.length === 0) return undefined;
    return { bytes: render(told), to: isToSender ? "sender" : "link" };
  }

  /** Those who do not speak mDNS themselves are answered as by any DNS server (RFC 6762 section 6.7). */
  #answerSimple(bytes: Buffer): MdnsReply | undefined {
    const outcome = readDnsQuery(bytes);
    if (outcome.kind !== "query") return undefined;
    const { question, maxUdpBytes } = outcome.query;
    const found = this.#find(question);
    if (found === undefined || (question.class & ~MDNS_CLASS_BIT) !== CLASS_IN) return undefined;
    const reply = { ...found, isAuthoritative: true, canRecurse: false };
    return { bytes: renderDnsReply(outcome.query, reply, maxUdpBytes), to: "sender" };
  }

  #find(question: { readonly name: string; readonly type: number }): NameAnswer | undefined {
    const found = LOCAL.test(question.name) ? this.#names.answer(question) : undefined;
    return found !== undefined && found.answers.length > 0 ? found : undefined;
  }

  #mayTell({ name, type }: { readonly name: string; readonly type: number }, nowMs: number) {
    const saidMs = this.#saidMs.get(keyOf(name, type));
    return saidMs === undefined || nowMs - saidMs >= PAUSE_MS;
  }

  #note({ name, type }: { readonly name: string; readonly type: number }, nowMs: number): void {
    const key = keyOf(name, type);
    this.#saidMs.delete(key);
    this.#saidMs.set(key, nowMs);
    const [oldest] = this.#saidMs.keys();
    if (this.#saidMs.size > MAX_SAID && oldest !== undefined) this.#saidMs.delete(oldest);
  }
}

function keyOf(name: string, type: number): string {
  return `${name.toLowerCase()} ${type}`;
}

/** Whoever has heard it will not forget it soon (RFC 6762 section 7.1). */
function isKnown(answer: Answer, known: readonly KnownAddress[]): boolean {
  if (answer.type !== "A" && answer.type !== "AAAA") return false;
  const name = answer.name.toLowerCase();
  return known.some(
    (one) =>
      one.name === name && one.address === answer.data && one.ttlSeconds * 2 >= (answer.ttl ?? 0),
  );
}

/** All of it, or as many answers as fit: then nobody is to forget others for them. */
function render(told: readonly NameAnswer[]): Buffer {
  const answers = told.flatMap((one) => one.answers);
  const additionals = told.flatMap((one) => one.additionals);
  const whole = renderParts(answers.map(unique), additionals.map(unique));
  if (whole.length <= MAX_UDP_BYTES) return whole;
  for (let count = answers.length; ; count = Math.ceil(count / 2)) {
    const some = renderParts(answers.slice(0, count), []);
    if (some.length <= MAX_UDP_BYTES || count === 1) return some;
  }
}

function renderParts(answers: readonly Answer[], additionals: readonly Answer[]): Buffer {
  const flags = FLAG_AUTHORITATIVE;
  const records = { answers: [...answers], additionals: [...additionals] };
  return encode({ type: "response", id: 0, flags, ...records });
}

/** Nobody else on the link answers for the name. */
function unique(answer: Answer): Answer {
  return answer.type === "A" || answer.type === "AAAA" || answer.type === "SRV"
    ? { ...answer, flush: true }
    : answer;
}
