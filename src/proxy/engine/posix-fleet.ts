import type { Log } from "../../core/log.ts";
import { EventLoopGroup } from "../../net/groups/event-loop-group.ts";
import { SharedListener } from "../../net/listeners/shared-listener.ts";
import type { LoopStats } from "../../net/loop-counters.ts";
import { connectionCap } from "../../net/threads/connection-cap.ts";
import { createLoopHost } from "../../net/threads/loop-host.ts";
import { LoopThread, type LoopThreadHost } from "../../net/threads/loop-thread.ts";
import { workerUrl } from "../../net/threads/worker-url.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { EngineCommand, EngineReport, ProxyProgramData } from "../loop/engine-messages.ts";
import type { Fleet, FleetEvents, OpenSocket } from "./fleet.ts";

export interface PosixFleetOptions {
  readonly loops: number;
  readonly log: Log;
  readonly startWorker?: LoopThreadHost["startWorker"] | undefined;
  readonly sleep: (ms: number) => Promise<void>;
}

const BACKLOG = 4096;
/** A loop that dies at once, again and again, must not take the machine with it. */
const RESTART_AFTER_MS = 100;
/** The loop in this place checks the servers. */
const CHECKING_PLACE = 0;

const PROGRAM = workerUrl("../loop/proxy-loop", import.meta.url);

/** Loops on threads of their own, which block in epoll. One that dies is replaced. */
export class PosixFleet implements Fleet {
  readonly size: number;
  readonly #host: LoopThreadHost;
  readonly #group: EventLoopGroup<LoopThread>;
  readonly #options: PosixFleetOptions;
  readonly #events: FleetEvents;
  readonly #places: (LoopThread | undefined)[] = [];
  #started = 0;
  #isClosing = false;

  /** Settles when all loops run. */
  static async start(options: PosixFleetOptions, events: FleetEvents): Promise<PosixFleet> {
    const fleet = new PosixFleet(options, events);
    const places = Array.from({ length: options.loops }, (_, place) => place);
    await Promise.all(places.map((place) => fleet.#start(place)));
    return fleet;
  }

  private constructor(options: PosixFleetOptions, events: FleetEvents) {
    this.size = options.loops;
    this.#options = options;
    this.#events = events;
    const { log, startWorker, sleep } = options;
    this.#host = { ...createLoopHost(log), ...(startWorker && { startWorker }) };
    this.#group = new EventLoopGroup({ name: "worker", log, sleep });
  }

  send(place: number, command: EngineCommand): boolean {
    const loop = this.#places[place];
    loop?.send(command);
    return loop !== undefined;
  }

  stats(): readonly (LoopStats & { readonly name: string })[] {
    return this.#group.loops().map(({ name, loop }) => ({ name, ...loop.stats() }));
  }

  async listen(socketId: string, on: SocketAddress): Promise<OpenSocket> {
    const listener = SharedListener.open<LoopThread>(on, { id: socketId, backlog: BACKLOG });
    await this.#group.attach(listener);
    return {
      address: listener.address,
      close: async () => {
        this.#group.detach(socketId);
        await listener.close();
      },
    };
  }

  async drain(timeoutMs: number): Promise<void> {
    const drained = this.#group.loops().map(({ loop }) => loop.drain().catch(() => undefined));
    await Promise.race([Promise.all(drained), this.#options.sleep(timeoutMs)]);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#group.close({ drainTimeoutMs: 0 });
    this.#host.guard.dispose();
  }

  async #start(place: number): Promise<void> {
    this.#started += 1;
    const data: ProxyProgramData = { index: place, checks: place === CHECKING_PLACE };
    const loop = await LoopThread.start(this.#host, {
      name: `worker-${this.#started}`,
      program: PROGRAM,
      programData: data,
      maxFds: connectionCap(this.#host.maxDescriptors, this.size),
      // The loop's program sends only what EngineReport names.
      onReport: (body) => this.#events.onReport(place, body as EngineReport),
    });
    this.#places[place] = loop;
    void loop.ended.then(() => this.#ended(place));
    await this.#events.onStarted(place);
    await this.#group.add(loop);
  }

  async #ended(place: number): Promise<void> {
    this.#places[place] = undefined;
    if (this.#isClosing) return;
    this.#events.onLost(place);
    await this.#options.sleep(RESTART_AFTER_MS);
    if (this.#isClosing) return;
    try {
      await this.#start(place);
    } catch (error) {
      this.#options.log.error({ err: error, place }, "an event loop could not be replaced");
    }
  }
}
