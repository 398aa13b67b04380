import { type DnsQuery, readDnsQuery } from "../../wire/dns/dns-query.ts";
import { isInternet } from "../../wire/dns/dns-question.ts";
import { renderDnsReply, renderProblem, renderTruncated } from "../../wire/dns/dns-reply.ts";
import { MAX_MESSAGE_BYTES, type Rcode } from "../../wire/dns/dns-words.ts";
import type { DnsConfig, ListenerConfig } from "../engine-config.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import type { DnsForwarder } from "./dns-forwarder.ts";
import type { LocalAnswer, LocalNames } from "./local-names.ts";

export interface ResponderParts {
  readonly config: Pick<ListenerConfig, "allowOthers"> & {
    readonly dns: Pick<DnsConfig, "forwardTo"> | undefined;
  };
  readonly row: Pick<CounterRow, "opened" | "closed" | "moved" | "failed">;
  readonly names: Pick<LocalNames, "answer" | "answerUnknown">;
  readonly forwarder: DnsForwarder;
  readonly nowMs: () => number;
}

/** A message of a client. */
export interface DnsAsking {
  /** The caller's no more. */
  readonly bytes: Buffer;
  readonly client: string;
  readonly isOverTcp: boolean;
}

const NOTHING: Pick<LocalAnswer, "answers" | "additionals"> = { answers: [], additionals: [] };

/** What a DNS listener answers: hosts, then groups, then what resolvers say where others are served. */
export class DnsResponder {
  readonly #parts: ResponderParts;

  constructor(parts: ResponderParts) {
    this.#parts = parts;
  }

  /** Calls back with the answer, perhaps later; with nothing where none is to be given. */
  answer(asking: DnsAsking, onAnswer: (answer: Buffer | undefined) => void): void {
    const { row } = this.#parts;
    row.opened();
    const say = (answer: Buffer | undefined): void => {
      row.moved(asking.bytes.length, answer?.length ?? 0);
      row.closed();
      onAnswer(answer);
    };
    const outcome = readDnsQuery(asking.bytes);
    if (outcome.kind === "query") {
      this.#answerQuery(outcome.query, asking, say);
      return;
    }
    row.failed();
    say(outcome.kind === "noise" ? undefined : renderProblem(outcome.id, outcome.rcode));
  }

  #answerQuery(query: DnsQuery, asking: DnsAsking, say: (answer: Buffer) => void): void {
    const { config, names, nowMs } = this.#parts;
    const maxBytes = asking.isOverTcp ? MAX_MESSAGE_BYTES : query.maxUdpBytes;
    const refuse = (rcode: Rcode): void => {
      this.#parts.row.failed();
      say(this.#render(query, { rcode, ...NOTHING }, { isAuthoritative: false, maxBytes }));
    };
    if ((query.extension?.version ?? 0) !== 0) refuse("BADVERS");
    else if (!isInternet(query.question)) refuse("REFUSED");
    else {
      const local =
        names.answer(query.question, { client: asking.client, nowMs: nowMs() }) ??
        (config.allowOthers ? undefined : names.answerUnknown(query.question));
      if (local !== undefined) say(this.#render(query, local, { isAuthoritative: true, maxBytes }));
      else if (config.allowOthers) this.#forward(query, maxBytes, say, refuse);
      else refuse("REFUSED");
    }
  }

  #forward(
    query: DnsQuery,
    maxBytes: number,
    say: (answer: Buffer) => void,
    refuse: (rcode: Rcode) => void,
  ): void {
    const { config, forwarder } = this.#parts;
    const pass = (answer: Buffer): void => {
      const about = { rcode: "NOERROR", isAuthoritative: false, canRecurse: true } as const;
      say(answer.length <= maxBytes ? answer : renderTruncated(query, about));
    };
    const known = forwarder.recall(query);
    if (known !== undefined) pass(known);
    else if (!query.wantsRecursion) refuse("REFUSED");
    else {
      forwarder.ask(query, config.dns?.forwardTo ?? [], (answer) => {
        if (answer === undefined) refuse("SERVFAIL");
        else pass(answer);
      });
    }
  }

  #render(
    query: DnsQuery,
    answer: LocalAnswer,
    { isAuthoritative, maxBytes }: { readonly isAuthoritative: boolean; readonly maxBytes: number },
  ): Buffer {
    const canRecurse = this.#parts.config.allowOthers;
    return renderDnsReply(query, { ...answer, isAuthoritative, canRecurse }, maxBytes);
  }
}
