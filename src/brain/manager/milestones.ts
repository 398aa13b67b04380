import { CoreError } from "../../core/errors.ts";

/** Longer than it takes to find another member. */
const TIMEOUT_MS = 15_000;

/** How far a follower has come, and who waits for it to come further. */
export class Milestones {
  readonly #waiting = new Set<{
    readonly at: number;
    readonly done: (error?: CoreError) => void;
  }>();
  #passed = 0;

  passed(revision: number): void {
    this.#passed = Math.max(this.#passed, revision);
    for (const wait of this.#waiting) if (wait.at <= this.#passed) wait.done();
  }

  /** @throws CoreError ERR_ETCD_UNREACHABLE where it takes too long, ERR_ABORTED at the end */
  reach(revision: number): Promise<void> {
    if (revision <= this.#passed) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const wait = {
        at: revision,
        done: (error?: CoreError): void => {
          clearTimeout(timer);
          this.#waiting.delete(wait);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      const timer = setTimeout(() => {
        const why = `etcd did not tell what has changed within ${TIMEOUT_MS} ms`;
        wait.done(new CoreError("ERR_ETCD_UNREACHABLE", why));
      }, TIMEOUT_MS);
      this.#waiting.add(wait);
    });
  }

  close(): void {
    for (const wait of this.#waiting) wait.done(new CoreError("ERR_ABORTED", "the manager ends"));
  }
}
