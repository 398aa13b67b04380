import { randomInt } from "node:crypto";
import { ERRNO } from "../../platform/errno.ts";
import {
  formatSocketAddress,
  ipAddress,
  type SocketAddress,
} from "../../platform/socket-address.ts";
import type { DatagramFd, Provider, ServerFd, StreamFd } from "../fd.ts";
import { HostSelector } from "../host-selector.ts";
import type { Region } from "../region.ts";
import { type Timer, TimerQueue } from "../timer-queue.ts";
import { ClientSocket } from "./client-socket.ts";
import { KcpCounters } from "./kcp-counters.ts";
import type { Flushable, KcpHost } from "./kcp-host.ts";
import type { KcpOptions } from "./kcp-options.ts";
import { KcpServer } from "./kcp-server.ts";
import type { KcpSocket } from "./kcp-socket.ts";

/** Slots from here on are sockets of tunnels; those of the loop are far below. */
export const FIRST_SOCKET_SLOT = 0x4000_0000;
const GENERATION = 1;
const SOCKET_BUFFER_BYTES = 4_194_304;
const REGION_BYTES = 65_536;
const MAX_INDEX = 2 ** 32 - 1;

/** The tunnels of one loop: their sockets, timers, and what is to be sent before the loop waits. */
export class KcpEngine implements KcpHost {
  readonly options: KcpOptions;
  readonly counters: KcpCounters = new KcpCounters();
  readonly selector: HostSelector = new HostSelector();
  readonly outgoing: Region;
  readonly outgoingView: DataView;
  readonly incoming: Region;
  readonly incomingView: DataView;
  readonly #base: Provider;
  readonly #timers = new TimerQueue();
  readonly #sockets = new Map<number, KcpSocket>();
  /** Where more waits than was taken. */
  readonly #unfinished = new Set<KcpSocket>();
  readonly #clients = new Set<ClientSocket>();
  /** Of each address the one that new streams go to. */
  readonly #newest = new Map<string, ClientSocket>();
  readonly #servers = new Set<KcpServer>();
  #dirty = new Set<Flushable>();
  #nextSlot = FIRST_SOCKET_SLOT;
  #onWork: () => void = () => undefined;

  constructor(base: Provider, options: KcpOptions) {
    this.#base = base;
    this.options = options;
    this.outgoing = base.allocate(REGION_BYTES);
    this.incoming = base.allocate(REGION_BYTES);
    this.outgoingView = viewOf(this.outgoing);
    this.incomingView = viewOf(this.incoming);
  }

  /** Tunnels that stand, of either end. */
  get tunnelCount(): number {
    let count = 0;
    for (const { tunnel } of this.#clients) if (tunnel.isOpen) count += 1;
    for (const { server } of this.#servers) count += server.tunnelCount;
    return count;
  }

  /** Of these, with something on its way that has not arrived. */
  get busyCount(): number {
    let count = 0;
    for (const { tunnel } of this.#clients) if (tunnel.isBusy) count += 1;
    for (const { server } of this.#servers) count += server.busyCount;
    return count;
  }

  /** A stream in the tunnel to that address, which is made where there is none. */
  connect(to: SocketAddress): StreamFd {
    const key = formatSocketAddress(to);
    const known = this.#newest.get(key);
    if (known?.tunnel.hasRoom) return known.tunnel.connect();
    const fd = this.#base.bindDatagram(wildcardFor(to), {
      connectTo: to,
      bufferBytes: SOCKET_BUFFER_BYTES,
    });
    const client: ClientSocket = new ClientSocket(this, {
      fd,
      remote: to,
      localIndex: randomInt(1, MAX_INDEX),
      onEnded: () => {
        this.#unwatch(client.socket);
        this.#clients.delete(client);
        if (this.#newest.get(key) === client) this.#newest.delete(key);
      },
    });
    const stream = client.tunnel.connect();
    const opened = fd.finishOpen();
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) {
      client.tunnel.lost(opened);
      return stream;
    }
    this.#clients.add(client);
    this.#newest.set(key, client);
    this.#watch(client.socket);
    return stream;
  }

  /** @param fd bound already; it is closed with the server and its tunnels */
  serve(fd: DatagramFd, backlog: number): ServerFd {
    const server: KcpServer = new KcpServer(this, {
      fd,
      backlog,
      onEnded: () => {
        this.#servers.delete(server);
        this.#unwatch(server.server.socket);
      },
    });
    const opened = fd.finishOpen();
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) {
      server.close();
      return server;
    }
    this.#servers.add(server);
    this.#watch(server.server.socket);
    return server;
  }

  nowMs(): number {
    return this.#base.clock.nowMs();
  }

  arm(timer: Timer, atMs: number): void {
    if (Number.isFinite(atMs)) this.#timers.arm(timer, atMs);
    else this.#timers.cancel(timer);
  }

  disarm(timer: Timer): void {
    this.#timers.cancel(timer);
  }

  markDirty(what: Flushable): void {
    this.#dirty.add(what);
    this.#onWork();
  }

  /** Calls back when there is something to do in the next round. */
  onWork(callback: () => void): void {
    this.#onWork = callback;
  }

  /** When there is something to do by itself; infinite where there is nothing. */
  get nextAtMs(): number {
    if (this.#unfinished.size > 0 || this.#dirty.size > 0) return 0;
    return this.#timers.nextAtMs ?? Number.POSITIVE_INFINITY;
  }

  socketReady(slot: number, ready: number): void {
    const socket = this.#sockets.get(slot);
    if (socket?.ready(ready)) this.#unfinished.add(socket);
  }

  /** Between rounds: what waits in sockets, then timers, then all that is to be sent. */
  work(): void {
    for (const socket of this.#unfinished) {
      if (!socket.takeWaiting()) this.#unfinished.delete(socket);
    }
    const nowMs = this.nowMs();
    for (let timer = this.#timers.takeDue(nowMs); timer; timer = this.#timers.takeDue(nowMs)) {
      timer.task();
    }
    this.flush();
  }

  /** Tunnels fill the batches of their sockets, which come after them. */
  flush(): void {
    while (this.#dirty.size > 0) {
      const dirty = this.#dirty;
      this.#dirty = new Set();
      for (const one of dirty) one.flush();
    }
    this.options.counters?.publish(this.counters);
  }

  close(): void {
    for (const { tunnel } of [...this.#clients]) tunnel.end("the client ends", 0);
    for (const server of [...this.#servers]) {
      server.close();
      server.server.close();
    }
    this.flush();
    this.#timers.clear();
    this.selector.close();
  }

  #watch(socket: KcpSocket): void {
    const slot = this.#nextSlot;
    this.#nextSlot += 1;
    this.#sockets.set(slot, socket);
    socket.fd.attach(slot, GENERATION);
  }

  #unwatch(socket: KcpSocket): void {
    this.#unfinished.delete(socket);
    for (const [slot, known] of this.#sockets) if (known === socket) this.#sockets.delete(slot);
  }
}

function viewOf({ bytes }: Region): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function wildcardFor(to: SocketAddress): SocketAddress {
  return ipAddress(to.family === "v6" ? "::" : "0.0.0.0", 0);
}
