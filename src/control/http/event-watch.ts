import type { ServerResponse } from "node:http";
import { STATUS } from "./answer.ts";
import type { HttpLimits } from "./limits.ts";
import { HttpRefusal } from "./refusal.ts";

const HEADERS = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" };
const RETRY_SECONDS = "5";

type WatchLimits = Pick<HttpLimits, "maxWatchers" | "maxWatcherBytes" | "heartbeatMs">;

/** Begins to pass events on as text; the result ends it. */
export type FollowEvents = (send: (text: string) => void) => () => void;

/**
 * Tells events to all who watch, as server-sent events. Whoever does not read what it is sent is
 * dropped at a limit, and may come again.
 */
export class EventWatch {
  readonly #follow: FollowEvents;
  readonly #limits: WatchLimits;
  readonly #watchers = new Set<ServerResponse>();
  #stop: (() => void) | undefined;

  constructor(follow: FollowEvents, limits: WatchLimits) {
    this.#follow = follow;
    this.#limits = limits;
  }

  /**
   * @param missed what happened before, to be told first
   * @throws HttpRefusal 503 where there are too many
   */
  open(
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    missed: string = "",
  ): void {
    this.#assertRoom();
    response.writeHead(STATUS.ok, { ...headers, ...HEADERS });
    if (response.req.method === "HEAD") {
      response.end();
      return;
    }
    // Something at once, so that whoever watches knows that it is heard.
    response.write(`retry: 2000\n\n: watching\n\n${missed}`);
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
    const stopEvents = this.#follow((text) => this.#send(text));
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
