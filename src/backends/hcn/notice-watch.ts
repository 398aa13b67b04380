import type { Log } from "../../core/log.ts";
import type { Hcn } from "../../platform/windows/hcn.ts";
import type { HcnNotice } from "../../platform/windows/hcn-calls.ts";

/** Hears what HNS tells. An HNS that ends forgets whom it tells: it has to be asked again. */
export class NoticeWatch {
  readonly #hcn: Hcn;
  readonly #onNotice: (notice: HcnNotice) => void;
  readonly #log: Log;
  #stop: (() => void) | undefined;

  constructor(hcn: Hcn, onNotice: (notice: HcnNotice) => void, log: Log) {
    this.#hcn = hcn;
    this.#onNotice = onNotice;
    this.#log = log;
  }

  /** Asks to be told, unless that is so. Without HNS it is tried again; the periods go on meanwhile. */
  ensure(): void {
    if (this.#stop !== undefined) return;
    try {
      this.#stop = this.#hcn.watch((notice) => {
        // Not from inside of its own call, which HNS waits for.
        if (notice.what === "service-gone") setImmediate(this.#forget());
        this.#onNotice(notice);
      });
    } catch (error) {
      this.#log.debug({ err: error }, "HNS does not tell of changes yet");
    }
  }

  end(): void {
    this.#forget()();
  }

  /** @returns what lets go of it */
  #forget(): () => void {
    const stop = this.#stop;
    this.#stop = undefined;
    return () => stop?.();
  }
}
