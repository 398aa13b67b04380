import type { BackendStatus, UnservedListener } from "../backends/backend.ts";
import type { Reporter } from "../core/status/status-board.ts";

export interface BackendReportOptions {
  readonly report: Reporter;
  /** What it is, while it has nothing to tell of what it serves. */
  readonly summary: string;
}

/** Tells the board how a backend is, from its repairs and from what it does not serve. */
export class BackendReport {
  readonly #options: BackendReportOptions;
  #serves = "";
  #failure: string | undefined;
  #closed: readonly UnservedListener[] = [];

  constructor(options: BackendReportOptions) {
    this.#options = options;
  }

  /** It looks at what it programmed, until `repaired`. */
  repairing(): void {
    this.#options.report.busy();
  }

  /** @param failure why what it programmed could not be put right; undefined: it could */
  repaired(failure: string | undefined): void {
    this.#failure = failure;
    this.#settle();
  }

  /** @param always what it can not honour whatever the state is */
  tell(always: readonly string[], { summary, notHonoured, unserved = [] }: BackendStatus): void {
    this.#serves = summary;
    this.#options.report.notHonoured([...always, ...notHonoured]);
    this.#closed = unserved.filter(({ isClosed }) => isClosed === true);
    this.#settle();
  }

  #settle(): void {
    const { report, summary } = this.#options;
    const [first] = this.#closed;
    if (this.#failure !== undefined) report.failed(this.#failure);
    else if (first !== undefined) report.degraded(closedText(first, this.#closed.length));
    else report.ok(this.#serves || summary);
  }
}

function closedText({ listener, reason }: UnservedListener, count: number): string {
  const more = count === 1 ? "" : `, and ${count - 1} more`;
  return `Listener ${listener} is not served: ${reason}${more}`;
}
