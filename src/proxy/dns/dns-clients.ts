import type { ListenerRole } from "../../net/acceptor.ts";
import type { DatagramFd, DatagramPeer, StreamFd } from "../../net/fd.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { type FrontReader, UdpFront } from "../udp/udp-front.ts";
import type { DnsResponder } from "./dns-responder.ts";
import { DnsStream } from "./dns-stream.ts";

export interface DnsClientsParts {
  /** Whose the sockets are, for those who list them. */
  readonly describe: () => ListenerRole;
  /** As it is when a question comes. */
  readonly responder: () => Pick<DnsResponder, "answer">;
  readonly allows: (client: string, protocol: "TCP" | "UDP") => boolean;
  /** How long a connection may be silent, and how long it may take for a question. */
  readonly patienceMs: () => number;
  /** A connection had to make room for another one. */
  readonly onCrowded: () => void;
}

/** Clients that ask over TCP, in one loop. */
const MAX_STREAMS = 256;

/** Those who ask, over UDP and TCP: questions go to a responder, and its answers back to them. */
export class DnsClients implements FrontReader {
  readonly #host: SessionHost;
  readonly #parts: DnsClientsParts;
  readonly #fronts = new Map<DatagramFd, UdpFront>();
  /** The one that has not asked for the longest time comes first. */
  readonly #streams = new Set<DnsStream>();
  #isReceiving = false;

  constructor(host: SessionHost, parts: DnsClientsParts) {
    this.#host = host;
    this.#parts = parts;
  }

  accept(fd: StreamFd): void {
    const { responder, allows, patienceMs, describe } = this.#parts;
    const client = ipOf(fd.remoteAddress());
    if (!allows(client, "TCP")) {
      fd.reset();
      return;
    }
    this.#makeRoom();
    const stream = new DnsStream(this.#host, fd, {
      listener: describe().listener,
      responder,
      client,
      patienceMs: patienceMs(),
      onAsked: () => {
        this.#streams.delete(stream);
        this.#streams.add(stream);
      },
      onClosed: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    if (this.#host.isDraining) stream.drain();
  }

  addFront(fd: DatagramFd): void {
    this.#fronts.set(fd, new UdpFront(this.#host.net.loop, fd, this));
  }

  removeFront(fd: DatagramFd): void {
    this.#fronts.get(fd)?.leave();
    this.#fronts.delete(fd);
  }

  close(): void {
    for (const fd of [...this.#fronts.keys()]) this.removeFront(fd);
  }

  describe(): ListenerRole {
    return this.#parts.describe();
  }

  pass(fd: DatagramFd, index: number): void {
    this.#isReceiving = true;
    const peer = fd.sender(index);
    const client = ipOf(peer.address);
    if (!this.#parts.allows(client, "UDP")) return;
    const bytes = Buffer.from(fd.datagram(index));
    this.#parts.responder().answer({ bytes, client, isOverTcp: false }, (answer) => {
      if (answer !== undefined) this.#send(fd, answer, peer);
    });
  }

  flush(): void {
    this.#isReceiving = false;
    for (const fd of this.#fronts.keys()) fd.flush();
  }

  /** Whoever holds all connections can not keep others out. */
  #makeRoom(): void {
    const [longestSilent] = this.#streams;
    if (longestSilent === undefined || this.#streams.size < MAX_STREAMS) return;
    this.#parts.onCrowded();
    longestSilent.abort();
  }

  /** Through another front of the address where the one that the question came by is gone. */
  #send(by: DatagramFd, answer: Buffer, to: DatagramPeer): void {
    const [other] = this.#fronts.keys();
    const fd = this.#fronts.has(by) ? by : other;
    if (fd === undefined) return;
    if (!fd.queue(answer, to)) {
      fd.flush();
      fd.queue(answer, to);
    }
    if (!this.#isReceiving) fd.flush();
  }
}

/** Empty for unix sockets. */
function ipOf(address: SocketAddress): string {
  return address.family === "unix" ? "" : address.ip;
}
