import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";

/** Attaching and detaching wait for all processors: not for each moment that a way is another one. */
export const UNUSED_MS = 60_000;

export interface KernelLinksOptions {
  /** Has the receiving program see what comes by a link of the network; returns how to end that. */
  readonly attach: (link: number) => () => void;
  readonly nowMs: () => number;
  readonly log: Log;
}

interface Attached {
  /** Undefined where it could not be attached. */
  readonly detach: (() => void) | undefined;
  neededMs: number;
}

/** The links that peers are reached by, each with the receiving program for as long as that is so. */
export class KernelLinks {
  readonly #options: KernelLinksOptions;
  readonly #links = new Map<number, Attached>();

  constructor(options: KernelLinksOptions) {
    this.#options = options;
  }

  /** To be said again now and then. */
  need(link: number): void {
    const neededMs = this.#options.nowMs();
    const there = this.#links.get(link);
    if (there !== undefined) there.neededMs = neededMs;
    else this.#links.set(link, { detach: this.#attach(link), neededMs });
  }

  /** Lets go of those that were not needed for a while. */
  review(): void {
    const nowMs = this.#options.nowMs();
    for (const [link, { detach, neededMs }] of this.#links) {
      if (nowMs - neededMs < UNUSED_MS) continue;
      detach?.();
      this.#links.delete(link);
    }
  }

  close(): void {
    for (const { detach } of this.#links.values()) detach?.();
    this.#links.clear();
  }

  #attach(link: number): (() => void) | undefined {
    const { attach, log } = this.#options;
    try {
      return attach(link);
    } catch (error) {
      log.info({ link, reason: messageOf(error) }, "what comes by this link takes no kernel path");
      return undefined;
    }
  }
}
