import type { Log } from "../../core/log.ts";
import type { Hcn } from "../../platform/windows/hcn.ts";
import type { HcnNotice } from "../../platform/windows/hcn-calls.ts";

/** Hears what HNS tells. An HNS that ends forgets whom it tells: it has to be asked again. */
export class NoticeWatch {
  readonly #hcn: Hcn;
  readonly #onNotice: (notice: HcnNotice) => void;
  readonly #log: Log;
  #stop: (() => Promise<void>) | undefined;

  constructor(hcn: Hcn, onNotice: (notice: HcnNotice) => void, log: Log) {
    this.#hcn = hcn;
    this.#onNotice = onNotice;
    this.#log = log;
  }

  /** Asks to be told, unless that is so. Without HNS it is tried again; the periods go on meanwhile. */
  async ensure(): Promise<void> {
    if (this.#stop !== undefined) return;
    let isGone = false;
    try {
      const stop = await this.#hcn.watch((notice) => {
        if (notice.what === "service-gone") {
          isGone = true;
          this.#forget();
        }
        this.#onNotice(notice);
      });
      this.#stop = stop;
      // It may end while it is asked.
      if (isGone) this.#forget();
    } catch (error) {
      this.#log.debug({ err: error }, "HNS does not tell of changes yet");
    }
  }

  #forget(): void {
    void this.#stop?.();
    this.#stop = undefined;
  }
}
