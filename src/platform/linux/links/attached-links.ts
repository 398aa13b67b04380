import { setImmediate } from "node:timers/promises";
import { messageOf } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { Turns } from "../../../core/turns.ts";
import type { PlainLink } from "./ethernet-links.ts";

export interface AttachedLinksOptions {
  /** Those that should have the programs now. */
  readonly wanted: () => Promise<readonly PlainLink[]>;
  /**
   * Has the programs see what comes by a link, and what goes; returns how to end that.
   * @throws CoreError ERR_SYSTEM_CALL
   */
  readonly attach: (link: PlainLink) => () => void;
  /** @throws CoreError ERR_SYSTEM_CALL */
  readonly programsAt: (link: PlainLink) => ProgramsAt;
  readonly log: Log;
}

/** Whose programs are at a link: `shared` where there are any of others. */
export type ProgramsAt = "none" | "ours" | "shared";

interface Attached {
  readonly link: PlainLink;
  readonly detach: () => void;
}

/** Keeps programs at just the links that should have them. */
export class AttachedLinks {
  readonly #options: AttachedLinksOptions;
  readonly #turns = new Turns();
  readonly #links = new Map<number, Attached>();
  /** The names of those that could not be attached, which was told. */
  readonly #refused = new Map<number, string>();
  #isClosed = false;

  constructor(options: AttachedLinksOptions) {
    this.#options = options;
  }

  /** How many links have the programs. */
  get size(): number {
    return this.#links.size;
  }

  /**
   * Attaches and detaches what became different. One that could not be attached is tried again.
   * Rejects as `wanted` does: all stays as it is then.
   */
  review(): Promise<void> {
    return this.#turns.take(() => this.#review());
  }

  /** Nothing more is attached from then on, also not by a review under way. */
  stop(): void {
    this.#isClosed = true;
  }

  /** The same; when it resolves, nothing is attached at all. */
  async close(): Promise<void> {
    this.stop();
    for (const link of [...this.#links.keys()]) await this.#detach(link);
  }

  async #review(): Promise<void> {
    if (this.#isClosed) return;
    const wanted = await this.#options.wanted();
    if (this.#isClosed) return;
    const numbers = new Set(wanted.map(({ link }) => link));
    for (const link of [...this.#links.keys()]) if (!numbers.has(link)) await this.#detach(link);
    for (const link of this.#refused.keys()) if (!numbers.has(link)) this.#refused.delete(link);
    for (const link of wanted) await this.#reviewOne(link);
  }

  async #reviewOne(link: PlainLink): Promise<void> {
    const { attach, programsAt, log } = this.#options;
    const there = this.#links.get(link.link);
    try {
      const found = programsAt(link);
      const hasToGo = found === "shared";
      if (there !== undefined && (found !== "ours" || !isSame(there.link, link))) {
        if (found === "none" && isSame(there.link, link)) {
          log.warn({ link: link.name }, "programs were gone from this link");
        }
        await this.#detach(link.link);
      }
      if (!hasToGo && !this.#isClosed && !this.#links.has(link.link)) {
        this.#links.set(link.link, { link, detach: attach(link) });
        await setImmediate();
      }
      this.#refused.delete(link.link);
    } catch (error) {
      await this.#detach(link.link);
      this.#tellOnce(link, messageOf(error));
    }
  }

  /** The kernel waits for all processors, some 20 ms each time: others are let in between. */
  async #detach(link: number): Promise<void> {
    const there = this.#links.get(link);
    if (there === undefined) return;
    this.#links.delete(link);
    there.detach();
    await setImmediate();
  }

  #tellOnce({ link, name }: PlainLink, reason: string): void {
    if (this.#refused.get(link) === name) return;
    this.#refused.set(link, name);
    this.#options.log.info({ link: name, reason }, "programs can not be attached to this link");
  }
}

/** The number of a link that is gone may be another one's; and what was made for an MTU is for it alone. */
function isSame(before: PlainLink, now: PlainLink): boolean {
  return before.name === now.name && before.mtu === now.mtu;
}
