import type { DatagramFd, DatagramPeer } from "../../net/fd.ts";
import type {
  ChannelDescription,
  ChannelId,
  ChannelRole,
  ReadyHandler,
} from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import { type IpSocketAddress, ipAddress } from "../../platform/socket-address.ts";
import {
  readSocks5Datagram,
  renderSocks5DatagramHeader,
} from "../../wire/socks5/socks5-datagram.ts";
import { renderSocks5Reply, socks5ReplyFor } from "../../wire/socks5/socks5-reply.ts";
import type { Socks5Address } from "../../wire/socks5/socks5-words.ts";
import type { DialTargets } from "../relay/dial-targets.ts";
import type { EndOwner, RelayEnd } from "../relay/relay-end.ts";
import type { OpenSession, SessionHost } from "../relay/session-host.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import { type FlowOwner, Socks5Flow } from "./socks5-flow.ts";

export interface AssociationParts {
  /** The connection that the association lives and ends with. */
  readonly client: RelayEnd;
  /** Nobody else may send. */
  readonly clientIp: string;
  readonly row: CounterRow;
  /** Key of the listener. */
  readonly listener: string;
  readonly idleTimeoutMs: number;
  /** Where a destination leads to; the callback may be called later. */
  readonly findTargets: (wanted: Socks5Address, found: (targets: DialTargets) => void) => void;
  /** Shared by all associations of a listener in this loop. */
  readonly budget: FlowBudget;
}

/** How many destinations may be open at once: each takes a descriptor. */
export class FlowBudget {
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
  }

  take(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }

  giveBack(): void {
    this.#left += 1;
  }
}

/** Of one association; the one that was used least recently makes room. */
const MAX_FLOWS = 64;
/** A destination that is silent for so long is forgotten. */
const FLOW_IDLE_MS = 60_000;
/** Then the other FDs of the loop have their turn. */
const MAX_BATCHES = 8;

/**
 * UDP ASSOCIATE (RFC 1928 sections 6 and 7): a socket that takes datagrams of one client, from the
 * address and port that its first one came from, and passes each on to where its header says. It ends
 * with the connection that asked for it, or when nothing has passed for a time.
 */
export class Socks5Association implements EndOwner, OpenSession, ReadyHandler, FlowOwner {
  readonly #host: SessionHost;
  readonly #parts: AssociationParts;
  readonly #fd: DatagramFd;
  readonly #timer = new Timer(() => this.#checkIdle());
  /** In the order of their last use. */
  readonly #flows = new Map<string, Socks5Flow>();
  readonly #keys = new Map<Socks5Flow, string>();
  readonly #unflushed = new Set<Socks5Flow>();
  #peer: DatagramPeer | undefined;
  #id: ChannelId | undefined;
  #lastMs: number;
  #state: "opening" | "open" | "closed" = "opening";
  #bytesIn = 0;
  #bytesOut = 0;

  /** @param at the address that the client's connection came to. */
  constructor(host: SessionHost, at: IpSocketAddress, parts: AssociationParts) {
    this.#host = host;
    this.#parts = parts;
    this.#lastMs = host.net.loop.nowMs;
    this.#fd = host.net.provider.bindDatagram(ipAddress(at.ip, 0));
    parts.client.owner = this;
    host.sessions.add(this);
  }

  start(): void {
    const opened = this.#fd.finishOpen();
    const { loop } = this.#host.net;
    loop.arm(this.#timer, Math.min(this.#parts.idleTimeoutMs, FLOW_IDLE_MS));
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) {
      this.#refuse(opened);
      return;
    }
    this.#id = loop.add(this.#fd, this);
    if (opened === 0) this.#announce();
  }

  /** The client has nothing more to say here but that it is done. */
  endReady(end: RelayEnd): void {
    const { scratch } = this.#host.net;
    while (this.#state !== "closed" && end.fd.readable) {
      const count = end.fd.read(scratch, 0, end.bufferBytes);
      if (count > 0 || count === -ERRNO.EAGAIN) continue;
      this.#close(count < 0);
    }
  }

  endDismissed(): void {
    this.abort();
  }

  get listener(): string {
    return this.#parts.listener;
  }

  roleOf(): ChannelRole {
    return { listener: this.listener, session: {} };
  }

  /** Nobody can tell when a client is done: it is not waited for. */
  drain(): void {
    this.#close(false);
  }

  abort(): void {
    this.#close(true);
  }

  onReady(): void {
    const opened = this.#fd.finishOpen();
    if (opened === -ERRNO.EINPROGRESS) return;
    if (opened < 0) {
      this.#refuse(opened);
      return;
    }
    if (this.#state === "opening") this.#announce();
    this.#receive();
  }

  onRemoved(): void {
    this.#id = undefined;
    this.abort();
  }

  describe(): ChannelDescription {
    const remote = this.#peer === undefined ? {} : { remote: this.#peer.address };
    return {
      kind: "datagram",
      local: this.#fd.localAddress(),
      ...remote,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      listener: this.listener,
    };
  }

  dismiss(): void {
    this.abort();
  }

  flowAnswered(from: IpSocketAddress, payload: Uint8Array): void {
    if (this.#peer === undefined) return;
    const header = renderSocks5DatagramHeader(from.ip, from.port);
    const datagram = Buffer.concat([header, payload]);
    this.#bytesOut += payload.length;
    this.#parts.row.moved(0, payload.length);
    if (this.#fd.queue(datagram, this.#peer)) return;
    this.#fd.flush();
    this.#fd.queue(datagram, this.#peer);
  }

  flowPaused(): void {
    this.#lastMs = this.#host.net.loop.nowMs;
    this.#fd.flush();
  }

  flowClosed(flow: Socks5Flow): void {
    const key = this.#keys.get(flow);
    if (key !== undefined) this.#flows.delete(key);
    this.#keys.delete(flow);
    this.#unflushed.delete(flow);
    this.#parts.budget.giveBack();
  }

  #announce(): void {
    this.#state = "open";
    const local = this.#fd.localAddress();
    const [ip, port] = local.family === "unix" ? [undefined, 0] : [local.ip, local.port];
    if (!this.#say(renderSocks5Reply("succeeded", ip, port))) this.abort();
  }

  #refuse(result: number): void {
    this.#parts.row.failed();
    this.#host.log.debug({ reason: errnoName(result) }, "no socket for the datagrams of a client");
    this.#close(!this.#say(renderSocks5Reply(socks5ReplyFor(errnoName(result)))));
  }

  /** Short answers always fit into a fresh connection. */
  #say(bytes: Buffer): boolean {
    const { scratch } = this.#host.net;
    const { client } = this.#parts;
    scratch.bytes.set(bytes);
    const count = client.fd.write(scratch, 0, bytes.length);
    client.sent += Math.max(0, count);
    return count === bytes.length;
  }

  #receive(): void {
    for (let batch = 0; batch < MAX_BATCHES && this.#fd.readable; batch += 1) {
      const count = this.#fd.receive();
      for (let index = 0; index < count; index += 1) this.#pass(index);
      for (const flow of [...this.#unflushed]) flow.flush();
      this.#unflushed.clear();
      if (count < 0) return;
    }
    if (this.#fd.readable) this.#host.net.loop.nextTick(() => this.#goOn());
  }

  #goOn(): void {
    if (this.#state === "open") this.#receive();
  }

  #pass(index: number): void {
    if (!this.#isOfClient(index)) return;
    const bytes = this.#fd.datagram(index);
    const datagram = readSocks5Datagram(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    );
    if (datagram === undefined) {
      this.#parts.row.failed();
      return;
    }
    const flow = this.#flowTo(datagram.address);
    if (flow === undefined) {
      this.#parts.row.failed();
      return;
    }
    this.#lastMs = this.#host.net.loop.nowMs;
    this.#bytesIn += datagram.payload.length;
    this.#parts.row.moved(datagram.payload.length, 0);
    flow.send(datagram.payload);
    this.#unflushed.add(flow);
  }

  /** The first datagram from the client's address says which port is its. */
  #isOfClient(index: number): boolean {
    if (this.#peer !== undefined) return this.#fd.senderKey(index) === this.#peer.key;
    const sender = this.#fd.sender(index);
    const { address } = sender;
    if (address.family === "unix" || address.ip !== this.#parts.clientIp) return false;
    this.#peer = sender;
    return true;
  }

  #flowTo(wanted: Socks5Address): Socks5Flow | undefined {
    const key = `${wanted.host} ${wanted.port}`;
    const known = this.#flows.get(key);
    if (known !== undefined) {
      this.#flows.delete(key);
      this.#flows.set(key, known);
      return known;
    }
    if (this.#flows.size >= MAX_FLOWS) this.#flows.values().next().value?.close();
    const { budget, findTargets } = this.#parts;
    if (!budget.take()) return undefined;
    const flow = new Socks5Flow(this.#host, this);
    this.#flows.set(key, flow);
    this.#keys.set(flow, key);
    findTargets(wanted, (targets) => flow.open(targets));
    return this.#flows.has(key) ? flow : undefined;
  }

  #checkIdle(): void {
    const { loop } = this.#host.net;
    const { idleTimeoutMs } = this.#parts;
    const flowIdleMs = Math.min(idleTimeoutMs, FLOW_IDLE_MS);
    for (const flow of [...this.#flows.values()]) {
      if (loop.nowMs - flow.lastMs >= flowIdleMs) flow.close();
    }
    const leftMs = this.#lastMs + idleTimeoutMs - loop.nowMs;
    if (leftMs <= 0) this.#close(false);
    else loop.arm(this.#timer, Math.min(leftMs, flowIdleMs));
  }

  #close(withReset: boolean): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    const { net, sessions } = this.#host;
    const { client, row } = this.#parts;
    net.loop.disarm(this.#timer);
    for (const flow of [...this.#flows.values()]) flow.close();
    this.#fd.close();
    if (this.#id !== undefined) net.loop.remove(this.#id);
    this.#id = undefined;
    client.leave(net.loop, withReset);
    sessions.delete(this);
    row.closed();
  }
}
