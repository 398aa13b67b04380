import type { DatagramFd } from "../../net/fd.ts";
import type { ChannelDescription, ChannelId, ReadyHandler } from "../../net/selector-event-loop.ts";
import { ERRNO } from "../../platform/errno.ts";
import { type IpSocketAddress, ipAddress } from "../../platform/socket-address.ts";
import type { DialTarget, DialTargets } from "../relay/dial-targets.ts";
import type { SessionHost } from "../relay/session-host.ts";

/** Is told what comes of a flow. */
export interface FlowOwner {
  /** Key of the listener. */
  readonly listener: string;
  /** A datagram came back from where the flow leads; a view, good until it returns. */
  flowAnswered(from: IpSocketAddress, payload: Uint8Array): void;
  /** No more answers for now. */
  flowPaused(): void;
  /** It is over; told once. */
  flowClosed(flow: Socks5Flow): void;
}

/** What waits while a name is looked up; what comes beyond it is dropped, as UDP may. */
const MAX_WAITING = 16;
/** Then the other FDs of the loop have their turn. */
const MAX_BATCHES = 8;
const WILDCARDS = { v4: "0.0.0.0", v6: "::" } as const;

/** The datagrams of one association to one destination, and back. */
export class Socks5Flow implements ReadyHandler {
  readonly #host: SessionHost;
  readonly #owner: FlowOwner;
  #waiting: Buffer[] = [];
  #target: DialTarget | undefined;
  #to: IpSocketAddress | undefined;
  #fd: DatagramFd | undefined;
  #id: ChannelId | undefined;
  #isOpen = true;
  #bytesIn = 0;
  #bytesOut = 0;
  lastMs: number;

  constructor(host: SessionHost, owner: FlowOwner) {
    this.#host = host;
    this.#owner = owner;
    this.lastMs = host.net.loop.nowMs;
  }

  /** It is known where to: nowhere, where there is no target that datagrams can be sent to. */
  open(targets: DialTargets): void {
    if (!this.#isOpen) return;
    const target = targets.next();
    if (target === undefined || target.address.family === "unix" || target.isForStreams === true) {
      this.close();
      return;
    }
    const { address } = target;
    target.opened();
    this.#target = target;
    this.#to = address;
    const { loop, provider } = this.#host.net;
    const from = ipAddress(WILDCARDS[address.family], 0);
    const fd = provider.bindDatagram(from, { connectTo: address });
    this.#fd = fd;
    const opened = fd.finishOpen();
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) {
      this.#failed(opened);
      return;
    }
    this.#id = loop.add(fd, this);
    if (opened === 0) this.#sendWaiting();
  }

  /** Sends a datagram of the client; `flush` follows. */
  send(payload: Buffer): void {
    this.lastMs = this.#host.net.loop.nowMs;
    const fd = this.#fd;
    if (fd === undefined || fd.finishOpen() !== 0) {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(Buffer.from(payload));
      return;
    }
    this.#bytesIn += payload.length;
    this.#target?.moved(payload.length, 0);
    if (fd.queue(payload)) return;
    this.flush();
    if (this.#isOpen) fd.queue(payload);
  }

  flush(): void {
    const fd = this.#fd;
    if (fd === undefined || fd.finishOpen() !== 0) return;
    const sent = fd.flush();
    if (sent < 0 && sent !== -ERRNO.EAGAIN) this.#failed(sent);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#waiting = [];
    this.#fd?.close();
    if (this.#id !== undefined) this.#host.net.loop.remove(this.#id);
    this.#id = undefined;
    this.#target?.closed();
    this.#owner.flowClosed(this);
  }

  onReady(): void {
    const opened = this.#fd?.finishOpen() ?? -ERRNO.EINPROGRESS;
    if (opened === -ERRNO.EINPROGRESS) return;
    if (opened < 0) {
      this.#failed(opened);
      return;
    }
    this.#sendWaiting();
    this.#receive();
  }

  onRemoved(): void {
    this.#id = undefined;
    this.close();
  }

  describe(): ChannelDescription {
    const [fd, to] = [this.#fd, this.#to];
    const local = fd?.localAddress() ?? ipAddress(WILDCARDS.v4, 0);
    const remote = to === undefined ? {} : { remote: to };
    return {
      kind: "datagram",
      local,
      ...remote,
      bytesIn: this.#bytesOut,
      bytesOut: this.#bytesIn,
      listener: this.#owner.listener,
      server: this.#target?.key ?? "",
    };
  }

  dismiss(): void {
    this.close();
  }

  #sendWaiting(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const payload of waiting) this.send(payload);
    this.flush();
  }

  #receive(): void {
    const [fd, to] = [this.#fd, this.#to];
    if (fd === undefined || to === undefined) return;
    for (let batch = 0; batch < MAX_BATCHES && this.#isOpen && fd.readable; batch += 1) {
      const count = fd.receive();
      if (count < 0) {
        this.#failed(count);
        return;
      }
      let bytes = 0;
      for (let index = 0; index < count; index += 1) {
        const payload = fd.datagram(index);
        bytes += payload.length;
        this.#owner.flowAnswered(to, payload);
      }
      this.#bytesOut += bytes;
      this.#target?.moved(0, bytes);
      this.#owner.flowPaused();
    }
    this.lastMs = this.#host.net.loop.nowMs;
    if (this.#isOpen && fd.readable) this.#host.net.loop.nextTick(() => this.#receive());
  }

  /** The next datagram for this destination begins anew, with another server where there is one. */
  #failed(result: number): void {
    if (!this.#isOpen) return;
    this.#target?.failed(result);
    this.close();
  }
}
