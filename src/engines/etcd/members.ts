import { CoreError } from "../../core/errors.ts";
import { ended, unreachable } from "./etcd-errors.ts";
import type { EtcdClientOptions, EtcdLimits } from "./etcd-options.ts";
import { Member } from "./member.ts";

/** Chooses whom to ask: the one that worked last, and another where that one failed. */
export class Members {
  readonly #members: readonly Member[];
  readonly #options: EtcdClientOptions;
  /** Begins anywhere, so that many clients do not all ask the same one. */
  #current: number;

  constructor(options: EtcdClientOptions, limits: EtcdLimits) {
    this.#options = options;
    this.#members = options.members.map((address) => new Member(address, options.tls, limits));
    this.#current = Math.floor(options.random() * this.#members.length);
  }

  /**
   * The member to ask. Where all of them failed lately it waits until one may be asked again.
   * @throws CoreError ERR_ABORTED
   */
  async choose(signal: AbortSignal): Promise<Member> {
    for (;;) {
      if (signal.aborted) throw ended();
      const nowMs = performance.now();
      const free = this.#fromCurrent().find((member) => member.freeAtMs <= nowMs);
      if (free !== undefined) return free;
      const waitMs = Math.min(...this.#members.map((member) => member.freeAtMs)) - nowMs;
      await this.#options.sleep(Math.ceil(waitMs), signal).catch(() => {
        throw ended();
      });
    }
  }

  worked(member: Member): void {
    member.worked();
    this.#current = this.#members.indexOf(member);
  }

  failed(member: Member, cause: unknown): void {
    const error = cause instanceof CoreError ? cause : unreachable(String(cause), cause);
    member.failed(error, performance.now(), this.#options.random());
    if (this.#members[this.#current] === member) {
      this.#current = (this.#current + 1) % this.#members.length;
    }
  }

  /** Why none of them did it. */
  whyNot(last: CoreError): CoreError {
    const [only, another] = this.#members;
    if (only !== undefined && another === undefined) return only.lastError ?? last;
    const reasons = this.#members
      .map(({ name, lastError }) => `${name}: ${lastError?.message ?? "not asked"}`)
      .join("; ");
    return new CoreError(last.code, `no member of etcd did it: ${reasons}`, { cause: last });
  }

  close(): void {
    for (const member of this.#members) member.disconnect();
  }

  #fromCurrent(): readonly Member[] {
    return [...this.#members.slice(this.#current), ...this.#members.slice(0, this.#current)];
  }
}
