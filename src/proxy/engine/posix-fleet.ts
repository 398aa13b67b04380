import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { endLoop } from "../../net/groups/end-loop.ts";
import { EventLoopGroup } from "../../net/groups/event-loop-group.ts";
import type { TunnelSettings } from "../../net/kcp/kcp-options.ts";
import { SharedListener } from "../../net/listeners/shared-listener.ts";
import type { ChannelId } from "../../net/selector-event-loop.ts";
import { connectionCap } from "../../net/threads/connection-cap.ts";
import { createLoopHost } from "../../net/threads/loop-host.ts";
import { LoopThread, type LoopThreadHost } from "../../net/threads/loop-thread.ts";
import type { LoopFigures } from "../engine-stats.ts";
import type { EngineCommand, ProxyProgramData } from "../loop/engine-messages.ts";
import { LOOP_PROGRAM } from "../loop/loop-program.ts";
import { parseEngineReport } from "../loop/parse-engine-message.ts";
import { TicketRatchet } from "../tls/ticket-ratchet.ts";
import {
  DEFAULT_GROUP,
  type Fleet,
  type FleetEvents,
  type FleetGroup,
  type GroupPair,
  type OpenSocket,
  type RunningLoop,
  type SocketWish,
} from "./fleet.ts";
import { type InheritedSockets, UnclaimedSockets } from "./inherited-sockets.ts";
import { LoopLinks } from "./loop-links.ts";
import { PosixSocket } from "./posix-socket.ts";

export interface PosixFleetOptions {
  readonly loops: number;
  readonly log: Log;
  readonly startWorker?: LoopThreadHost["startWorker"] | undefined;
  readonly sleep: (ms: number) => Promise<void>;
  readonly inherited: InheritedSockets;
  readonly alwaysSleeps?: boolean;
  readonly tunnels?: TunnelSettings | undefined;
}

const BACKLOG = 4096;
/** A loop that dies at once, again and again, must not take the machine with it. */
const RESTART_AFTER_MS = 100;

/** Where a loop is, and the one after it where it dies. */
interface Seat {
  readonly place: number;
  readonly group: string;
  /** The name that was wished for; undefined: any. */
  readonly wish: string | undefined;
  /** Of the loop that is in it, or is being started. */
  name: string;
  /** Which of all loops that were ever started the last one is. */
  serial: number;
  /** Undefined while it is being started, or replaced. */
  loop: LoopThread | undefined;
  /** It is being ended: no other takes its place. */
  isRetired: boolean;
}

/** Loops on threads of their own, which block in epoll. One that dies is replaced. */
export class PosixFleet implements Fleet {
  readonly #host: LoopThreadHost;
  readonly #tickets = TicketRatchet.create(Date.now());
  readonly #groups = new Map<string, EventLoopGroup<LoopThread>>();
  readonly #options: PosixFleetOptions;
  readonly #events: FleetEvents;
  readonly #seats = new Map<number, Seat>();
  readonly #links = new LoopLinks<LoopThread>();
  readonly #unclaimed: UnclaimedSockets;
  #started = 0;
  #isClosing = false;

  /** Settles when all loops run. */
  static async start(options: PosixFleetOptions, events: FleetEvents): Promise<PosixFleet> {
    const fleet = new PosixFleet(options, events);
    fleet.addGroup(DEFAULT_GROUP);
    const loops = Array.from({ length: options.loops }, () =>
      fleet.addLoop(DEFAULT_GROUP, undefined),
    );
    await Promise.all(loops);
    return fleet;
  }

  private constructor(options: PosixFleetOptions, events: FleetEvents) {
    this.#options = options;
    this.#events = events;
    this.#unclaimed = new UnclaimedSockets(options.inherited);
    const { log, startWorker } = options;
    this.#host = { ...createLoopHost(log), ...(startWorker && { startWorker }) };
  }

  places(): readonly number[] {
    return [...this.#seats.values()].flatMap(({ place, loop }) => (loop ? [place] : []));
  }

  send(place: number, command: EngineCommand): boolean {
    const loop = this.#seats.get(place)?.loop;
    loop?.send(command);
    return loop !== undefined;
  }

  groups(): readonly FleetGroup[] {
    const placeOf = new Map([...this.#seats.values()].map(({ place, loop }) => [loop, place]));
    return [...this.#groups.values()].map((group) => ({
      name: group.name,
      loops: group.loops().flatMap(({ name, loop }) => {
        const place = placeOf.get(loop);
        return place === undefined ? [] : [{ name, place, channels: () => loop.channels() }];
      }),
    }));
  }

  stats(): readonly LoopFigures[] {
    return this.#loops().map((loop) => ({
      name: loop.name,
      ...loop.stats(),
      tunnels: loop.tunnelStats(),
    }));
  }

  loops(): readonly RunningLoop[] {
    return [...this.#seats.values()].flatMap(({ loop, group, serial }) => {
      if (loop === undefined) return [];
      const channels = () => loop.channels();
      const dismiss = (id: ChannelId) => loop.dismiss(id);
      return [{ name: loop.name, group, serial, channels, dismiss }];
    });
  }

  addGroup(name: string): void {
    const { log, sleep } = this.#options;
    this.#groups.set(name, new EventLoopGroup({ name, log, sleep }));
  }

  async dropGroup(name: string): Promise<void> {
    const group = this.#groups.get(name);
    this.#groups.delete(name);
    await group?.close({ drainTimeoutMs: 0 });
  }

  async addLoop(group: string, name: string | undefined): Promise<string> {
    this.#groupOf(group);
    if (name !== undefined) this.#refuseTaken(name);
    const seat: Seat = {
      place: this.#freePlace(),
      group,
      wish: name,
      name: name ?? "",
      serial: 0,
      loop: undefined,
      isRetired: false,
    };
    this.#seats.set(seat.place, seat);
    try {
      return await this.#start(seat);
    } catch (error) {
      this.#seats.delete(seat.place);
      throw error;
    }
  }

  async retireLoop(name: string): Promise<void> {
    const seat = this.#seatOf(name);
    const group = this.#groupOf(seat.group);
    // One that has just started is in its group a moment later.
    if (group.get(name) === undefined) throw noLoop(name, this.#loops());
    seat.isRetired = true;
    await group.release(name);
  }

  async endLoop(name: string, drainTimeoutMs: number): Promise<void> {
    const loop = this.#loops().find((one) => one.name === name);
    // One that has died in the meantime has ended.
    if (loop !== undefined) await endLoop(loop, { drainTimeoutMs, sleep: this.#options.sleep });
  }

  link(pairs: readonly GroupPair[]): void {
    const loopsOf = (name: string): readonly LoopThread[] =>
      this.#groups
        .get(name)
        ?.loops()
        .map(({ loop }) => loop) ?? [];
    for (const { from, to } of pairs) this.#links.join(loopsOf(from), loopsOf(to));
  }

  profile(name: string, durationMs: number): Promise<string> {
    const loop = this.#loops().find((one) => one.name === name);
    if (loop === undefined) throw noLoop(name, this.#loops());
    return loop.profile(durationMs);
  }

  async listen({ id, transport, address }: SocketWish, group: string): Promise<OpenSocket> {
    const options = { id, transport, backlog: BACKLOG };
    const given = this.#unclaimed.claim(id);
    const listener =
      given === undefined
        ? SharedListener.open<LoopThread>(address, options)
        : SharedListener.adopt<LoopThread>(given, options);
    return PosixSocket.attach(listener, this.#groupOf(group), (name) => this.#groupOf(name));
  }

  closeUnclaimed(): void {
    this.#unclaimed.close();
  }

  async drain(timeoutMs: number): Promise<void> {
    const drained = this.#loops().map((loop) => loop.drain().catch(() => undefined));
    await Promise.race([Promise.all(drained), this.#options.sleep(timeoutMs)]);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.closeUnclaimed();
    await Promise.all([...this.#groups.keys()].map((name) => this.dropGroup(name)));
    await Promise.all(this.#loops().map((loop) => loop.stop()));
    this.#host.guard.dispose();
  }

  #loops(): readonly LoopThread[] {
    return [...this.#seats.values()].flatMap(({ loop }) => loop ?? []);
  }

  #groupOf(name: string): EventLoopGroup<LoopThread> {
    const group = this.#groups.get(name);
    if (group !== undefined) return group;
    const known = [...this.#groups.keys()].map((one) => `"${one}"`).join(", ");
    throw new CoreError("ERR_NOT_FOUND", `loop group "${name}" is not there; there are ${known}`);
  }

  #seatOf(name: string): Seat {
    const seats = [...this.#seats.values()].filter(({ isRetired }) => !isRetired);
    const seat = seats.find(({ loop }) => loop?.name === name);
    if (seat !== undefined) return seat;
    throw noLoop(
      name,
      seats.flatMap(({ loop }) => loop ?? []),
    );
  }

  #freePlace(): number {
    let place = 0;
    while (this.#seats.has(place)) place += 1;
    return place;
  }

  /** Loops know each other by name: also one that is being ended keeps it to its end. */
  #refuseTaken(name: string): void {
    const taken = this.#seatNamed(name);
    if (taken === undefined) return;
    const why = taken.isRetired ? "is being ended still" : `is in group "${taken.group}" already`;
    throw new CoreError("ERR_KEY_TAKEN", `event loop "${name}" ${why}; choose another name`);
  }

  #seatNamed(name: string): Seat | undefined {
    return [...this.#seats.values()].find((seat) => seat.name === name);
  }

  #freeName(group: string): string {
    while (this.#seatNamed(`${group}-${this.#started}`) !== undefined) this.#started += 1;
    return `${group}-${this.#started}`;
  }

  async #start(seat: Seat): Promise<string> {
    const { place, group } = seat;
    this.#started += 1;
    seat.name = seat.wish ?? this.#freeName(group);
    const { name } = seat;
    const serial = this.#started;
    const data: ProxyProgramData = { index: place, tickets: this.#tickets.seedAt(Date.now()) };
    const loops = Math.max(this.#options.loops, this.#seats.size);
    const loop = await LoopThread.start(this.#host, {
      name,
      program: LOOP_PROGRAM,
      programData: data,
      tunnels: this.#options.tunnels,
      alwaysSleeps: this.#options.alwaysSleeps ?? false,
      maxFds: connectionCap(this.#host.maxDescriptors, loops),
      onReport: (body) => this.#events.onReport(place, parseEngineReport(body)),
    });
    if (this.#isClosing) {
      await loop.stop();
      throw new CoreError("ERR_LOOP_ENDED", "the engine is closed");
    }
    seat.loop = loop;
    seat.serial = serial;
    void loop.ended.then(() => this.#ended(seat));
    await this.#events.onStarted(place);
    await this.#groups.get(group)?.add(loop);
    await this.#events.onJoined();
    return loop.name;
  }

  async #ended(seat: Seat): Promise<void> {
    const { place, loop } = seat;
    seat.loop = undefined;
    if (loop !== undefined) this.#cutLinks(loop);
    if (!this.#isClosing) this.#events.onLost(place);
    if (!seat.isRetired && !this.#isClosing) await this.#options.sleep(RESTART_AFTER_MS);
    if (seat.isRetired || this.#isClosing || !this.#groups.has(seat.group)) {
      this.#seats.delete(place);
      return;
    }
    try {
      await this.#start(seat);
    } catch (error) {
      if (this.#isClosing) return;
      this.#options.log.error({ err: error, place }, "an event loop could not be replaced");
    }
  }

  #cutLinks(loop: LoopThread): void {
    this.#links.cut(loop).catch((error: unknown) => {
      this.#options.log.error({ err: error, loop: loop.name }, "a loop could not be unlinked");
    });
  }
}

function noLoop(name: string, loops: readonly LoopThread[]): CoreError {
  const known = loops.map((loop) => `"${loop.name}"`).join(", ");
  return new CoreError("ERR_NOT_FOUND", `event loop "${name}" is not there; there are ${known}`);
}
