import { familyOf } from "../../core/model/address.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelId } from "../../net/selector-event-loop.ts";
import { type AddressWords, wordsOfIp } from "../../wire/ip/address-words.ts";
import type { FlowMirror } from "../flows/flow-mirror.ts";
import { type ConnectionObserver, FlowTable } from "../flows/flow-table.ts";
import { LOCAL, PacketRouter, type Target } from "../flows/packet-router.ts";
import { PrefixMap } from "../flows/prefix-map.ts";
import { ServiceTable } from "../table/service-table.ts";
import { Incoming, type IncomingEvents } from "./incoming.ts";
import { Outgoing } from "./outgoing.ts";
import { PacketSink } from "./packet-sink.ts";
import type { Peer } from "./peer.ts";
import { PeerBook } from "./peer-book.ts";
import { TunIntake } from "./tun-intake.ts";
import { TunWriter } from "./tun-writer.ts";

export interface DataPathEvents extends IncomingEvents {
  /** A packet to an address that is not known (yet), with its virtio header. */
  onUnknown(ip: string, packet: Uint8Array): void;
  /** A packet to a peer that can not be sent to (yet), with its virtio header. */
  onUnready(peer: Peer, packet: Uint8Array): void;
  /** A message was refused as it is longer than the way to the peer allows. */
  onTooLong(peer: Peer): void;
  /** Somebody sent from an address of the service ranges that is not known. */
  onUnknownSource?(ip: string): void;
}

export interface DataPathOptions {
  /** Name of this node. */
  readonly node: string;
  /** Descriptors, of others. */
  readonly tun: number;
  readonly udp: number;
  readonly mtu: number;
  readonly subnets: readonly string[];
  readonly serviceRanges: readonly string[];
  readonly hairpin: readonly string[];
  readonly maxFlows: number;
  readonly observer: ConnectionObserver | undefined;
  readonly mirror?: FlowMirror<Target<Peer>> | undefined;
  readonly events: DataPathEvents;
}

/** All that packets pass, between the TUN and the socket of a node, and what it is decided by. */
export class DataPath {
  readonly table: ServiceTable = new ServiceTable();
  readonly book: PeerBook;
  readonly flows: FlowTable<Target<Peer>>;
  readonly router: PacketRouter<Peer>;
  readonly outgoing: Outgoing;
  readonly writer: TunWriter;
  readonly sink: PacketSink;
  readonly incoming: Incoming;
  readonly intake: TunIntake;
  readonly #tun: number;
  readonly #udp: number;

  constructor(options: DataPathOptions) {
    const { node, tun, udp, mtu, events } = options;
    this.#tun = tun;
    this.#udp = udp;
    this.book = new PeerBook(options.subnets);
    const { maxFlows, observer, mirror } = options;
    this.flows = new FlowTable({ maxFlows, observer, mirror });
    this.router = new PacketRouter({
      table: this.table,
      flows: this.flows,
      routes: this.book.routes,
      serviceRanges: rangesOf(options.serviceRanges),
      observed: {
        roundTripMs: (name) => (name === node ? 0 : this.book.get(name)?.roundTripMs),
      },
      hairpin: { v4: wordsIn(options.hairpin, "v4"), v6: wordsIn(options.hairpin, "v6") },
      peerOf: (name) => (name === node ? LOCAL : this.book.get(name)),
      onUnknownSource: (ip) => events.onUnknownSource?.(ip),
    });
    this.outgoing = new Outgoing(udp, (peer) => events.onTooLong(peer));
    this.writer = new TunWriter(tun);
    this.sink = new PacketSink(this.router, this.writer, mtu);
    this.incoming = new Incoming({
      descriptor: udp,
      book: this.book,
      sink: this.sink,
      onStranger: (view, at, byteCount) => {
        if (this.router.packet.parse(view, at, byteCount)) this.router.tellUnknownSource();
      },
      events,
    });
    this.intake = new TunIntake({
      descriptor: tun,
      router: this.router,
      outgoing: this.outgoing,
      writer: this.writer,
      mtu,
      onUnknown: (ip, packet) => events.onUnknown(ip, packet),
      onUnready: (peer, packet) => events.onUnready(peer, packet),
    });
  }

  /** Has a loop serve both ends. `onLost`: somebody has removed the TUN. */
  serve(net: NetEventLoop, onLost: (result: number) => void): readonly ChannelId[] {
    const tun = watch(net, this.#tun, (nowMs) => {
      const result = this.intake.read(nowMs);
      if (result === 0) return;
      // It would be told for ever.
      net.loop.remove(tun);
      onLost(result);
    });
    const udp = watch(net, this.#udp, (nowMs) => {
      this.incoming.receive(nowMs);
    });
    return [tun, udp];
  }

  close(): void {
    for (const session of this.book.sessions) this.book.dropSession(session);
  }
}

function watch(
  { loop, provider: { adopt } }: NetEventLoop,
  descriptor: number,
  onReady: (nowMs: number) => void,
): ChannelId {
  if (adopt === undefined) throw new Error("this loop has no descriptors");
  return loop.add(adopt.readable({ descriptor }), {
    onReady: () => onReady(loop.nowMs),
    onRemoved: () => undefined,
  });
}

function rangesOf(ranges: readonly string[]): PrefixMap<true> {
  const map = new PrefixMap<true>();
  for (const range of ranges) map.add(range, true);
  return map;
}

function wordsIn(addresses: readonly string[], family: string): AddressWords | undefined {
  const ip = addresses.find((each) => familyOf(each) === family);
  return ip === undefined ? undefined : wordsOfIp(ip);
}
