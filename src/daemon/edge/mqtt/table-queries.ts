import { type TableAnswer, tableQuery } from "../../../wire/mqtt-edge/cluster-messages.ts";

type QueryKind = Parameters<typeof tableQuery>[0];

/** How long an answer is waited for; after that the same may be asked again. */
const ANSWER_MS = 5000;
/** How long it is remembered that nobody has something. */
const NOBODY_MS = 10_000;
const MAX_UNDER_WAY = 256;
const MAX_REMEMBERED = 4096;

interface UnderWay {
  readonly answer: Promise<TableAnswer | undefined>;
  readonly settle: (answer: TableAnswer | undefined) => void;
}

/**
 * What the service manager of a cluster is asked: each thing once at a time. What is not answered is
 * forgotten, and what nobody has is not asked for again for a while.
 */
export class TableQueries {
  /** Whether it is on its way. */
  readonly #send: (message: object) => boolean;
  readonly #nowMs: () => number;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #nobodyUntilMs = new Map<string, number>();

  constructor(send: (message: object) => boolean, nowMs: () => number = () => performance.now()) {
    this.#send = send;
    this.#nowMs = nowMs;
  }

  /**
   * @param isSure that it was there: asked although nobody had it a moment ago
   * @returns undefined where there is no answer
   */
  async ask(kind: QueryKind, key: string, isSure = false): Promise<TableAnswer | undefined> {
    const there = this.#underWay.get(key);
    if (there !== undefined) return there.answer;
    if (!isSure && this.#nowMs() < (this.#nobodyUntilMs.get(key) ?? 0)) {
      return { jobName: "", queryKey: key, instances: [] };
    }
    if (this.#underWay.size >= MAX_UNDER_WAY || !this.#send(tableQuery(kind, key))) {
      return undefined;
    }
    return this.#wait(key);
  }

  /** An answer came; one that nobody waits for any more is nobody's business. */
  take(answer: TableAnswer): void {
    const { queryKey, jobName } = answer;
    const key = this.#underWay.has(queryKey) ? queryKey : jobName;
    if (jobName === "" && this.#underWay.has(key)) this.#remember(key);
    this.#underWay.get(key)?.settle(answer);
  }

  close(): void {
    for (const { settle } of this.#underWay.values()) settle(undefined);
  }

  #wait(key: string): Promise<TableAnswer | undefined> {
    let settle: UnderWay["settle"] = () => undefined;
    const answer = new Promise<TableAnswer | undefined>((resolve) => {
      const timer = setTimeout(() => settle(undefined), ANSWER_MS);
      settle = (given) => {
        clearTimeout(timer);
        this.#underWay.delete(key);
        resolve(given);
      };
    });
    this.#underWay.set(key, { answer, settle });
    return answer;
  }

  #remember(key: string): void {
    this.#nobodyUntilMs.delete(key);
    const [oldest] = this.#nobodyUntilMs.keys();
    if (this.#nobodyUntilMs.size >= MAX_REMEMBERED && oldest !== undefined) {
      this.#nobodyUntilMs.delete(oldest);
    }
    this.#nobodyUntilMs.set(key, this.#nowMs() + NOBODY_MS);
  }
}
