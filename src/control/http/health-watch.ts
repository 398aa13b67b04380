import type { ServerResponse } from "node:http";
import type { Control, HealthEvent } from "../control.ts";
import { STATUS } from "./answer.ts";
import type { HttpLimits } from "./limits.ts";
import { HttpRefusal } from "./refusal.ts";

const HEADERS = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" };
const RETRY_SECONDS = "5";

/**
 * Tells changes of health to all who watch, as server-sent events. Whoever does not read what it is
 * sent is dropped at a limit, and may come again.
 */
export class HealthWatch {
  readonly #control: Control;
  readonly #limits: HttpLimits;
  readonly #watchers = new Set<ServerResponse>();
  #stop: (() => void) | undefined;

  constructor(control: Control, limits: HttpLimits) {
    this.#control = control;
    this.#limits = limits;
  }

  /** @throws HttpRefusal 503 where there are too many */
  open(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
    this.#assertRoom();
    response.writeHead(STATUS.ok, { ...headers, ...HEADERS });
    if (response.req.method === "HEAD") {
      response.end();
      return;
    }
    // Something at once, so that whoever watches knows that it is heard.
    response.write("retry: 2000\n\n: watching\n\n");
    this.#watchers.add(response);
    response.on("close", () => this.#leave(response));
    this.#stop ??= this.#start();
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.end();
    this.#watchers.clear();
    this.#stop?.();
    this.#stop = undefined;
  }

  #assertRoom(): void {
    if (this.#watchers.size < this.#limits.maxWatchers) return;
    const message = `${this.#limits.maxWatchers} watch already, which is the limit; close one, or try later`;
    throw new HttpRefusal(STATUS.unavailable, "ERR_REFUSED", message, {
      "retry-after": RETRY_SECONDS,
    });
  }

  #start(): () => void {
    const stopEvents = this.#control.onHealth((event) => this.#send(eventText(event)));
    const heartbeat = setInterval(() => this.#send(": alive\n\n"), this.#limits.heartbeatMs);
    return () => {
      stopEvents();
      clearInterval(heartbeat);
    };
  }

  #leave(watcher: ServerResponse): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }

  #send(text: string): void {
    for (const watcher of this.#watchers) {
      if (watcher.writableLength + text.length > this.#limits.maxWatcherBytes) watcher.destroy();
      else watcher.write(text);
    }
  }
}

function eventText(event: HealthEvent): string {
  return `event: health-check\ndata: ${JSON.stringify(event)}\n\n`;
}
