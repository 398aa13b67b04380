import type { ListenerMode } from "../../core/model/listener.ts";
import type { StreamFd } from "../../net/fd.ts";
import type { ListenerConfig } from "../engine-config.ts";
import type { ServerTalk } from "../health/server-talk.ts";
import type { SessionHost } from "../relay/session-host.ts";
import type { ServiceHolder, StreamService } from "../relay/stream-service.ts";
import { StreamSession } from "../relay/stream-session.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import type { Entrance } from "./entrance.ts";

export interface StreamListener {
  readonly config: ListenerConfig;
  readonly row: CounterRow;
}

export type CreateService = (listener: StreamListener) => StreamService;

/** The entrance of listeners whose clients have one connection to a server each. */
export class StreamEntrance implements Entrance, ServiceHolder {
  readonly #host: SessionHost;
  readonly #mode: ListenerMode;
  readonly #create: CreateService;
  #service: StreamService;

  constructor(host: SessionHost, first: StreamListener, create: CreateService) {
    this.#host = host;
    this.#mode = first.config.mode;
    this.#create = create;
    this.#service = create(first);
  }

  get service(): StreamService {
    return this.#service;
  }

  accept(fd: StreamFd): void {
    new StreamSession(this.#host, this, fd).start();
  }

  change(config: ListenerConfig, row: CounterRow): boolean {
    if (config.mode !== this.#mode || config.tls !== undefined) return false;
    const before = this.#service;
    this.#service = this.#create({ config, row });
    before.close?.();
    return true;
  }

  talkTo(group: string, server: string): ServerTalk | undefined {
    return this.#service.talkTo?.(group, server);
  }

  close(): void {
    this.#service.close?.();
  }
}
