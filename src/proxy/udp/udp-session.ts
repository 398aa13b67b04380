import type { DatagramFd, DatagramPeer } from "../../net/fd.ts";
import type { ChannelDescription, ChannelId, ReadyHandler } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO } from "../../platform/errno.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { ListenerConfig } from "../engine-config.ts";
import type { DialTarget } from "../relay/dial-targets.ts";
import type { OpenSession, SessionHost } from "../relay/session-host.ts";
import type { CounterRow } from "../stats/counter-row.ts";

export interface UdpSessionParts {
  readonly client: DatagramPeer;
  readonly target: DialTarget;
  readonly row: CounterRow;
  readonly listener: Pick<ListenerConfig, "key" | "idleTimeoutMs">;
  /** Where answers go out to the client, at first. */
  readonly front: DatagramFd;
  /** Has it flushed when all sessions that are ready have put their answers into it. */
  readonly flushSoon: (front: DatagramFd) => void;
  /** It is over; told once. */
  readonly onClosed: () => void;
}

/** Then the other FDs of the loop have their turn. */
const MAX_BATCHES = 8;
/** Few and short answers are copied, to go out with those of other sessions in one system call. */
const MAX_KEPT = 16;
const MAX_KEPT_BYTES = 2048;
const WILDCARDS = { v4: "0.0.0.0", v6: "::" } as const;

/** The datagrams of one client, to one server and back, until none has come for a time. */
export class UdpSession implements ReadyHandler, OpenSession {
  /** Where answers go out to the client. */
  front: DatagramFd;
  readonly #host: SessionHost;
  readonly #parts: UdpSessionParts;
  readonly #fd: DatagramFd;
  readonly #idle = new Timer(() => this.#checkIdle());
  #id: ChannelId | undefined;
  #lastMs: number;
  #bytesIn = 0;
  #bytesOut = 0;
  #isOpen = true;

  constructor(host: SessionHost, parts: UdpSessionParts) {
    this.#host = host;
    this.#parts = parts;
    this.front = parts.front;
    const { loop, provider } = host.net;
    const { address } = parts.target;
    const family = address.family === "v6" ? "v6" : "v4";
    this.#fd = provider.bindDatagram(ipAddress(WILDCARDS[family], 0), { connectTo: address });
    this.#lastMs = loop.nowMs;
    parts.row.opened();
    parts.target.opened();
    host.sessions.add(this);
    loop.arm(this.#idle, parts.listener.idleTimeoutMs);
  }

  /** False where the server can not be reached from here. */
  start(): boolean {
    const opened = this.#fd.finishOpen();
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) {
      this.#failed(opened);
      return false;
    }
    this.#id = this.#host.net.loop.add(this.#fd, this);
    return true;
  }

  /** Sends one of the batch that the client's side received. `flush` follows. */
  forward(index: number, byteCount: number): void {
    this.#lastMs = this.#host.net.loop.nowMs;
    this.#bytesIn += byteCount;
    this.#count(byteCount, 0);
    if (this.#fd.forward(index)) return;
    this.flush();
    this.#fd.forward(index);
  }

  /** What is queued before the FD is open goes out when it is. */
  flush(): void {
    if (this.#fd.finishOpen() !== 0) return;
    const sent = this.#fd.flush();
    if (sent < 0 && sent !== -ERRNO.EAGAIN) this.#failed(sent);
  }

  onReady(): void {
    const opened = this.#fd.finishOpen();
    if (opened === -ERRNO.EINPROGRESS) return;
    if (opened < 0) {
      this.#failed(opened);
      return;
    }
    this.flush();
    this.#answer();
  }

  onRemoved(): void {
    this.#id = undefined;
    this.abort();
  }

  describe(): ChannelDescription {
    const { client, target, listener } = this.#parts;
    const ends = { local: this.front.localAddress(), remote: client.address };
    return {
      kind: "datagram",
      local: this.#fd.localAddress(),
      remote: target.address,
      bytesIn: this.#bytesOut,
      bytesOut: this.#bytesIn,
      listener: listener.key,
      server: target.key,
      session: { server: target.key, client: ends },
    };
  }

  dismiss(): void {
    this.abort();
  }

  /** Nobody can tell when a client is done: it is not waited for. */
  drain(): void {
    this.abort();
  }

  abort(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { net, sessions } = this.#host;
    const { target, row, onClosed } = this.#parts;
    net.loop.disarm(this.#idle);
    this.#fd.close();
    if (this.#id !== undefined) net.loop.remove(this.#id);
    this.#id = undefined;
    sessions.delete(this);
    row.closed();
    target.closed();
    onClosed();
  }

  #answer(): void {
    const { front } = this;
    for (let batch = 0; batch < MAX_BATCHES && this.#fd.readable; batch += 1) {
      const count = this.#fd.receive();
      if (count < 0) {
        this.#failed(count);
        return;
      }
      let bytes = 0;
      let hasAllKept = count <= MAX_KEPT;
      for (let index = 0; index < count; index += 1) {
        const byteCount = this.#fd.byteCount(index);
        bytes += byteCount;
        const isKept = hasAllKept && byteCount <= MAX_KEPT_BYTES;
        hasAllKept &&= isKept;
        if (this.#queue(index, isKept)) continue;
        front.flush();
        this.#queue(index, isKept);
      }
      this.#bytesOut += bytes;
      this.#count(0, bytes);
      if (hasAllKept) this.#parts.flushSoon(front);
      else front.flush();
    }
    this.#lastMs = this.#host.net.loop.nowMs;
    if (this.#fd.readable) this.#host.net.loop.nextTick(() => this.#goOn());
  }

  #queue(index: number, isKept: boolean): boolean {
    const { client } = this.#parts;
    return isKept ? this.front.keep(index, client) : this.front.forward(index, client);
  }

  #goOn(): void {
    if (this.#isOpen) this.#answer();
  }

  #count(bytesIn: number, bytesOut: number): void {
    this.#parts.row.moved(bytesIn, bytesOut);
    this.#parts.target.moved(bytesIn, bytesOut);
  }

  /** The next datagram of the client begins anew, with another server where there is one. */
  #failed(result: number): void {
    if (!this.#isOpen) return;
    this.#parts.target.failed(result);
    this.abort();
  }

  #checkIdle(): void {
    const { loop } = this.#host.net;
    const leftMs = this.#lastMs + this.#parts.listener.idleTimeoutMs - loop.nowMs;
    if (leftMs > 0) loop.arm(this.#idle, leftMs);
    else this.abort();
  }
}
