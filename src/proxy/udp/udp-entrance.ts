import { CoreError } from "../../core/errors.ts";
import type { DatagramFd, PeerKey, StreamFd } from "../../net/fd.ts";
import type { ChannelDescription, ChannelId, ReadyHandler } from "../../net/selector-event-loop.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import type { ListenerConfig } from "../engine-config.ts";
import type { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { SecurityGroup } from "../security-group.ts";
import type { Entrance } from "../services/entrance.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import { UdpSession } from "./udp-session.ts";

export interface UdpEntranceParts {
  readonly config: ListenerConfig;
  readonly row: CounterRow;
  readonly upstreamOf: (key: string) => UpstreamRuntime | undefined;
}

/** Then the other FDs of the loop have their turn. */
const MAX_BATCHES = 8;

/** Datagrams: all of one client go to one server, as long as they keep coming. */
export class UdpEntrance implements Entrance, ReadyHandler {
  readonly #host: SessionHost;
  readonly #upstreamOf: UdpEntranceParts["upstreamOf"];
  readonly #fd: DatagramFd;
  readonly #sessions = new Map<PeerKey, UdpSession>();
  readonly #unflushed = new Set<UdpSession>();
  #config: ListenerConfig;
  #row: CounterRow;
  #access: SecurityGroup | undefined;
  #id: ChannelId | undefined;

  /** Throws ERR_LISTEN where the address can not be had. */
  constructor(host: SessionHost, { config, row, upstreamOf }: UdpEntranceParts) {
    this.#host = host;
    this.#upstreamOf = upstreamOf;
    this.#config = config;
    this.#row = row;
    this.#access = config.access && new SecurityGroup(config.access);
    // Each loop has a socket of its own; the kernel keeps a client with one of them.
    this.#fd = host.net.provider.bindDatagram(config.address, { shared: true });
    const opened = this.#fd.finishOpen();
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) throw listenError(config, opened);
    this.#id = host.net.loop.add(this.#fd, this);
  }

  accept(fd: StreamFd): void {
    fd.reset();
  }

  change(config: ListenerConfig, row: CounterRow): boolean {
    if (config.mode !== this.#config.mode) return false;
    this.#config = config;
    this.#row = row;
    this.#access = config.access && new SecurityGroup(config.access);
    return true;
  }

  /** Answers go out through its FD, so its sessions end with it. */
  close(): void {
    for (const session of [...this.#sessions.values()]) session.abort();
    this.#fd.close();
    if (this.#id !== undefined) this.#host.net.loop.remove(this.#id);
    this.#id = undefined;
  }

  onReady(): void {
    const opened = this.#fd.finishOpen();
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) {
      this.#host.log.error(
        { listener: this.#config.key },
        listenError(this.#config, opened).message,
      );
      this.close();
      return;
    }
    this.#receive();
  }

  onRemoved(): void {
    this.#id = undefined;
    this.close();
  }

  describe(): ChannelDescription {
    return { kind: "listener", local: this.#fd.localAddress(), bytesIn: 0, bytesOut: 0 };
  }

  dismiss(): void {
    this.close();
  }

  #receive(): void {
    for (let batch = 0; batch < MAX_BATCHES && this.#fd.readable; batch += 1) {
      const count = this.#fd.receive();
      for (let index = 0; index < count; index += 1) this.#pass(index);
      // Before the next batch takes the place of this one.
      for (const session of this.#unflushed) session.flush();
      this.#unflushed.clear();
      if (count < 0) return;
    }
    if (this.#fd.readable) this.#host.net.loop.nextTick(() => this.#goOn());
  }

  #goOn(): void {
    if (!this.#fd.isClosed) this.#receive();
  }

  #pass(index: number): void {
    const key = this.#fd.senderKey(index);
    const session = this.#sessions.get(key) ?? this.#open(key, index);
    if (session === undefined) return;
    session.forward(index, this.#fd.datagram(index).length);
    this.#unflushed.add(session);
  }

  #open(key: PeerKey, index: number): UdpSession | undefined {
    const client = this.#fd.sender(index);
    const { address } = client;
    const ip = address.family === "unix" ? "" : address.ip;
    const target = this.#allows(ip)
      ? this.#upstreamOf(this.#config.upstream)?.choose({ client: ip })
      : undefined;
    if (target === undefined) {
      this.#row.failed();
      return undefined;
    }
    const session: UdpSession = new UdpSession(this.#host, {
      client,
      target,
      row: this.#row,
      idleTimeoutMs: this.#config.idleTimeoutMs,
      front: this.#fd,
      onClosed: () => {
        this.#sessions.delete(key);
        this.#unflushed.delete(session);
      },
    });
    this.#sessions.set(key, session);
    return session.start() ? session : undefined;
  }

  #allows(client: string): boolean {
    const { address } = this.#config;
    const port = address.family === "unix" ? 0 : address.port;
    return this.#access?.allows(client, "UDP", port) ?? true;
  }
}

function listenError({ key, address }: ListenerConfig, result: number): CoreError {
  return new CoreError(
    "ERR_LISTEN",
    `listener ${key}: can not listen on ${formatSocketAddress(address)} (UDP): ${errnoName(result)}`,
  );
}
