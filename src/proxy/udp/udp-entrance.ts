import type { ListenerRole } from "../../net/acceptor.ts";
import type { DatagramFd, PeerKey, StreamFd } from "../../net/fd.ts";
import type { ListenerConfig } from "../engine-config.ts";
import type { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { CalledAddress } from "../services/called-address.ts";
import type { Entrance } from "../services/entrance.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import { type FrontReader, UdpFront } from "./udp-front.ts";
import { UdpSession } from "./udp-session.ts";

export interface UdpEntranceParts {
  readonly config: ListenerConfig;
  readonly row: CounterRow;
  readonly upstreamOf: (key: string) => UpstreamRuntime | undefined;
}

/**
 * At a time, for a listener on a loop; one more ends the session that was opened first. Senders can be
 * made up: a flood of them shall not use up the descriptors.
 */
export const MAX_UDP_SESSIONS = 16_384;

/** Datagrams: all of one client go to one server, as long as they keep coming. */
export class UdpEntrance implements Entrance, FrontReader {
  readonly #host: SessionHost;
  readonly #upstreamOf: UdpEntranceParts["upstreamOf"];
  readonly #fronts = new Map<DatagramFd, UdpFront>();
  readonly #sessions = new Map<PeerKey, UdpSession>();
  readonly #unflushed = new Set<UdpSession>();
  /** Fronts that hold answers. */
  readonly #answered = new Set<DatagramFd>();
  #config: ListenerConfig;
  #row: CounterRow;
  #called: CalledAddress;

  constructor(host: SessionHost, parts: UdpEntranceParts) {
    const { config, row, upstreamOf } = parts;
    this.#host = host;
    this.#upstreamOf = upstreamOf;
    this.#config = config;
    this.#row = row;
    this.#called = new CalledAddress(config, upstreamOf);
  }

  accept(fd: StreamFd): void {
    fd.reset();
  }

  addFront(fd: DatagramFd): void {
    this.#fronts.set(fd, new UdpFront(this.#host.net.loop, fd, this));
  }

  /** Its sessions answer through another front of the same address, where there is one. */
  removeFront(fd: DatagramFd): void {
    this.#fronts.get(fd)?.leave();
    this.#fronts.delete(fd);
    const [other] = this.#fronts.keys();
    for (const session of [...this.#sessions.values()]) {
      if (session.front !== fd) continue;
      if (other === undefined) session.abort();
      else session.front = other;
    }
  }

  change(config: ListenerConfig, row: CounterRow): boolean {
    if (config.mode !== this.#config.mode) return false;
    this.#config = config;
    this.#row = row;
    this.#called = new CalledAddress(config, this.#upstreamOf);
    return true;
  }

  /** Answers go out through its fronts, so its sessions end with it. */
  close(): void {
    for (const session of [...this.#sessions.values()]) session.abort();
    for (const fd of [...this.#fronts.keys()]) this.removeFront(fd);
  }

  describe(): ListenerRole {
    const { bytesIn, bytesOut } = this.#row.read();
    return { listener: this.#config.key, bytesIn, bytesOut };
  }

  pass(fd: DatagramFd, index: number): void {
    const key = fd.senderKey(index);
    const session = this.#sessions.get(key) ?? this.#open(fd, key, index);
    if (session === undefined) return;
    session.forward(index, fd.byteCount(index));
    this.#unflushed.add(session);
  }

  flush(): void {
    for (const session of this.#unflushed) session.flush();
    this.#unflushed.clear();
  }

  readonly #flushSoon = (front: DatagramFd): void => {
    if (this.#answered.size === 0) this.#host.net.loop.nextTick(() => this.#flushAnswers());
    this.#answered.add(front);
  };

  #flushAnswers(): void {
    for (const front of this.#answered) if (!front.isClosed) front.flush();
    this.#answered.clear();
  }

  #open(front: DatagramFd, key: PeerKey, index: number): UdpSession | undefined {
    const client = front.sender(index);
    const { address } = client;
    const ip = address.family === "unix" ? "" : address.ip;
    const { fallsBack } = this.#config;
    const target = this.#called.allows(() => ip, "UDP")
      ? this.#called.upstreamFor(() => ip)?.choose({ client: ip, fallsBack })
      : undefined;
    if (target === undefined || target.isForStreams) {
      this.#row.failed();
      return undefined;
    }
    this.#makeRoom();
    const session: UdpSession = new UdpSession(this.#host, {
      client,
      target,
      row: this.#row,
      listener: this.#config,
      front,
      flushSoon: this.#flushSoon,
      onClosed: () => {
        this.#sessions.delete(key);
        this.#unflushed.delete(session);
      },
    });
    this.#sessions.set(key, session);
    return session.start() ? session : undefined;
  }

  #makeRoom(): void {
    if (this.#sessions.size < MAX_UDP_SESSIONS) return;
    const [first] = this.#sessions.values();
    first?.abort();
  }
}
