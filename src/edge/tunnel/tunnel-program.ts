import { familyOf } from "../../core/model/address.ts";
import type { LoopContext, LoopProgram } from "../../net/threads/loop-program.ts";
import { errnoName } from "../../platform/errno.ts";
import { loadAead } from "../../platform/linux/openssl/aead-calls.ts";
import { getSockaddr } from "../../platform/linux/sockaddr.ts";
import { setTunOffloads } from "../../platform/linux/tun-device.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import { wordsOfIp } from "../../wire/ip/address-words.ts";
import { FlowTable } from "../flows/flow-table.ts";
import { LOCAL, PacketRouter } from "../flows/packet-router.ts";
import { PrefixMap } from "../flows/prefix-map.ts";
import { ServiceTable } from "../table/service-table.ts";
import { FlowKeeper, type FlowPlace } from "./flow-keeper.ts";
import { Handshakes, TUNNEL_IDENTIFIER } from "./handshakes.ts";
import { Incoming, type Sender } from "./incoming.ts";
import { listFlows } from "./list-flows.ts";
import { Lookups } from "./lookups.ts";
import { Outgoing } from "./outgoing.ts";
import { PacketSink } from "./packet-sink.ts";
import { ParkedPackets } from "./parked-packets.ts";
import { packetBytesTo } from "./path-mtu.ts";
import { Peer, type PeerSpec } from "./peer.ts";
import { PeerBook } from "./peer-book.ts";
import { Rehearsal } from "./rehearsal.ts";
import type { Session } from "./session.ts";
import { TunIntake } from "./tun-intake.ts";
import { TunWriter } from "./tun-writer.ts";
import { TunnelControl } from "./tunnel-control.ts";
import { generateKeyPair, parseKeyPair } from "./tunnel-keys.ts";
import {
  isTunnelCommand,
  isTunnelData,
  type TunnelCommand,
  type TunnelData,
  type TunnelReport,
  type TunnelStats,
} from "./tunnel-messages.ts";

const TICK_MS = 250;
const EXPIRED_A_TICK = 2000;
/** A peer is asked whether it moved so often at most. */
const DOUBT_MS = 1000;
/** Pings are answered: a peer that is silent for so long has forgotten the session. */
const SILENT_MS = 15_000;
/** Instances that did not come until then have ended, and so have connections with them. */
const GIVE_UP_MS = 600_000;
const PEER_MARK = "peer ";

/** The tunnel of a node, on a thread of its own. */
class TunnelProgram implements LoopProgram {
  readonly openCount = 0;
  readonly #context: LoopContext;
  readonly #data: TunnelData;
  readonly #table = new ServiceTable();
  readonly #book: PeerBook;
  readonly #flows;
  readonly #keeper: FlowKeeper<Peer | typeof LOCAL>;
  readonly #router: PacketRouter<Peer>;
  readonly #outgoing: Outgoing;
  readonly #writer: TunWriter;
  readonly #sink: PacketSink;
  readonly #incoming: Incoming;
  readonly #intake: TunIntake;
  readonly #control: TunnelControl;
  readonly #handshakes: Handshakes;
  readonly #aead = loadAead();
  readonly #lookups = new Lookups();
  readonly #parked = new ParkedPackets();
  readonly #doubtedMs = new Map<string, number>();
  readonly #rehearsal: Rehearsal | undefined;
  #probedMs = 0;
  readonly #startedMs: number;

  constructor(context: LoopContext, data: TunnelData) {
    this.#context = context;
    this.#data = data;
    this.#startedMs = context.net.loop.nowMs;
    this.#book = new PeerBook(data.subnets);
    this.#keeper = new FlowKeeper(data.keptFlows);
    this.#flows = new FlowTable<Peer | typeof LOCAL>({
      maxFlows: data.maxFlows,
      observer: this.#keeper,
    });
    const serviceRanges = new PrefixMap<true>();
    for (const range of data.serviceRanges) serviceRanges.add(range, true);
    const hairpin = (family: string) => {
      const ip = data.hairpin.find((each) => familyOf(each) === family);
      return ip === undefined ? undefined : wordsOfIp(ip);
    };
    this.#router = new PacketRouter({
      table: this.#table,
      flows: this.#flows,
      routes: this.#book.routes,
      serviceRanges,
      observed: {
        roundTripMs: (node) => (node === data.node ? 0 : this.#book.get(node)?.roundTripMs),
      },
      hairpin: { v4: hairpin("v4"), v6: hairpin("v6") },
      peerOf: (node) => (node === data.node ? LOCAL : this.#book.get(node)),
    });
    this.#outgoing = new Outgoing(data.udp, (peer) => this.#measureWay(peer));
    this.#control = new TunnelControl(this.#outgoing);
    this.#writer = new TunWriter(data.tun);
    this.#sink = new PacketSink(this.#router, this.#writer, data.mtu);
    this.#incoming = this.#createIncoming();
    this.#intake = new TunIntake({
      descriptor: data.tun,
      router: this.#router,
      outgoing: this.#outgoing,
      writer: this.#writer,
      mtu: data.mtu,
      onUnknown: (ip, packet) => this.#onUnknown(ip, packet),
      onUnready: (peer, packet) => this.#onUnready(peer, packet),
    });
    this.#handshakes = this.#createHandshakes();
    this.#chooseOffloads();
    this.#watch();
    this.#rehearsal = data.rehearses
      ? new Rehearsal(context.net, {
          aead: this.#aead,
          onDone: (exchanges) => context.log.debug({ exchanges }, "the tunnel has rehearsed"),
        })
      : undefined;
  }

  listener(): never {
    throw new Error("a tunnel has no listeners");
  }

  onMessage(body: unknown): void {
    if (isTunnelCommand(body)) this.#obey(body);
  }

  drain(): void {
    // Packets are not held: there is nothing to finish.
  }

  close(): void {
    this.#rehearsal?.close();
    for (const session of this.#book.sessions) this.#book.dropSession(session);
  }

  #report(report: TunnelReport): void {
    this.#context.report(report);
  }

  get #nowMs(): number {
    return this.#context.net.loop.nowMs;
  }

  #watch(): void {
    const { loop, provider } = this.#context.net;
    const { adopt } = provider;
    if (adopt === undefined) return;
    const onRemoved = () => undefined;
    const tun = loop.add(adopt.readable({ descriptor: this.#data.tun }), {
      onReady: () => {
        const result = this.#intake.read(this.#nowMs);
        if (result === 0) return;
        // It would be told for ever: somebody has removed the link.
        loop.remove(tun);
        this.#report({ kind: "lost", reason: errnoName(result) });
      },
      onRemoved,
    });
    loop.add(adopt.readable({ descriptor: this.#data.udp }), {
      onReady: () => {
        this.#incoming.receive(this.#nowMs);
      },
      onRemoved,
    });
    loop.period(TICK_MS, () => this.#tick());
  }

  #createIncoming(): Incoming {
    return new Incoming({
      descriptor: this.#data.udp,
      book: this.#book,
      sink: this.#sink,
      events: {
        onHandshake: (message, sender) =>
          this.#handshakes.onMessage(Buffer.from(message), this.#nowMs, (peer) =>
            this.#follow(peer, sender),
          ),
        onControl: (peer, view, at, byteCount) =>
          this.#control.take(peer, view, at, byteCount, this.#nowMs),
        onConfirmed: (session) => this.#confirm(session),
        onMoved: (peer, sender) => this.#follow(peer, sender),
        onDoubtful: (peer, sender) => this.#doubt(peer, sender),
      },
    });
  }

  #createHandshakes(): Handshakes {
    const { privateKey } = this.#data;
    // Without a key of its own a node has no peers with keys: then this one is never shown to anybody.
    const identity = privateKey === undefined ? generateKeyPair() : parseKeyPair(privateKey);
    return new Handshakes({
      handshaker: { identity, identifier: TUNNEL_IDENTIFIER },
      book: this.#book,
      aead: this.#aead,
      rekeyAfterMs: this.#data.rekeyAfterMs,
      send: (peer, message) => this.#outgoing.sendMessage(peer, message),
      onSession: (peer) => this.#onSession(peer),
      wallClockMs: () => Date.now(),
    });
  }

  #obey(command: TunnelCommand): void {
    switch (command.kind) {
      case "apply":
        this.#apply(command);
        return;
      case "missed":
        this.#lookups.missed(command.address, this.#nowMs);
        this.#parked.drop(command.address);
        return;
      case "stats":
        this.#report({ kind: "stats", request: command.request, stats: this.#stats() });
        return;
      case "flows": {
        const flows = listFlows(this.#flows.flows(), command.limit);
        this.#report({ kind: "flows", request: command.request, flows });
        return;
      }
    }
  }

  /** What goes makes room for what comes. */
  #apply(command: Extract<TunnelCommand, { kind: "apply" }>): void {
    for (const node of command.deletedPeers) this.#removePeer(node);
    // What one peer has now may have been another one's before.
    for (const { node } of command.peers) this.#book.release(node);
    for (const spec of command.peers) this.#setPeer(spec);
    for (const key of command.deletedServices) this.#table.delete(key);
    this.#table.setAll(command.services);
    this.#chooseOffloads();
    // Before packets that waited: they may be of a connection that goes on.
    this.#keeper.resume(this.#flows, (server) => this.#placeOf(server), this.#nowMs);
    for (const { addresses } of command.services) {
      for (const { address } of addresses) {
        this.#lookups.found(address);
        this.#resume(address);
      }
    }
  }

  #placeOf(server: string): FlowPlace<Peer | typeof LOCAL> | undefined {
    const instance = this.#table.instanceAt(server);
    const { node } = this.#data;
    const target = instance?.node === node ? LOCAL : this.#book.get(instance?.node ?? "");
    return instance && target && { instance, target };
  }

  #removePeer(node: string): void {
    const peer = this.#book.remove(node);
    if (peer === undefined) return;
    this.#handshakes.forget(peer);
    this.#parked.drop(PEER_MARK + node);
    this.#doubtedMs.delete(node);
  }

  #setPeer(spec: PeerSpec): void {
    const { peer, isAnother } = this.#book.set(spec);
    if (isAnother) this.#handshakes.forget(peer);
    this.#measureWay(peer);
    this.#handshakes.want(peer, this.#nowMs);
  }

  /** A peer that takes single packets only has the kernel cut them for all. */
  #chooseOffloads(): void {
    const wanted = ![...this.#book.all].some((peer) => peer.isCompat);
    this.#sink.takesUdpRuns = setTunOffloads(this.#data.tun, wanted) === "tcp-udp";
  }

  #measureWay(peer: Peer): void {
    if (peer.nameBytes === 0) return;
    const limit = packetBytesTo(peer, this.#data.isV6Socket);
    peer.maxPacketBytes = limit < this.#data.mtu ? limit : 0;
    const limits = [...this.#book.all].map(({ maxPacketBytes }) => maxPacketBytes);
    this.#intake.shortestWay = Math.min(Number.POSITIVE_INFINITY, ...limits.filter(Boolean));
  }

  #follow(peer: Peer, { names, at, byteCount, key }: Sender): void {
    if (peer.endpointKey === key) return;
    const address = getSockaddr(names.view, at, byteCount);
    if (address.family === "unix") return;
    const before = peer.endpointKey;
    peer.setEndpoint(address);
    this.#book.noteMoved(peer, before);
    this.#measureWay(peer);
    this.#report({ kind: "moved", node: peer.node, endpoint: formatSocketAddress(address) });
  }

  /** Asks it there: what it answers is sealed, and moves it. */
  #doubt(peer: Peer, { names, at, byteCount }: Sender): void {
    const nowMs = this.#nowMs;
    if (nowMs - (this.#doubtedMs.get(peer.node) ?? -DOUBT_MS) < DOUBT_MS) return;
    this.#doubtedMs.set(peer.node, nowMs);
    const address = getSockaddr(names.view, at, byteCount);
    if (address.family === "unix") return;
    const there = new Peer(peer.spec);
    there.setEndpoint(address);
    there.session = peer.session;
    this.#control.ping(there, nowMs);
  }

  #confirm(session: Session): void {
    const peer = this.#book.get(session.node);
    const isNewer = peer?.session === undefined || peer.session.createdMs < session.createdMs;
    if (peer !== undefined && isNewer) this.#handshakes.use(peer, session);
  }

  #onSession(peer: Peer): void {
    this.#control.ping(peer, this.#nowMs);
    this.#resume(PEER_MARK + peer.node);
  }

  #onUnknown(ip: string, packet: Uint8Array): void {
    const what = this.#lookups.note(ip, this.#nowMs);
    if (what === "drop") {
      this.#router.counts.noRoute += 1;
      return;
    }
    this.#parked.park(ip, packet);
    if (what === "ask") this.#report({ kind: "lookup", address: ip });
  }

  #onUnready(peer: Peer, packet: Uint8Array): void {
    this.#parked.park(PEER_MARK + peer.node, packet);
    this.#handshakes.want(peer, this.#nowMs);
  }

  #resume(what: string): void {
    for (const packet of this.#parked.take(what)) this.#intake.resume(packet, this.#nowMs);
  }

  #tick(): void {
    const nowMs = this.#nowMs;
    this.#flows.expire(nowMs, EXPIRED_A_TICK);
    if (nowMs - this.#startedMs >= GIVE_UP_MS) this.#keeper.giveUp();
    const news = this.#keeper.takeNews();
    if (news !== undefined) this.#report({ kind: "keep", news });
    for (const ip of this.#lookups.expire(nowMs)) this.#parked.drop(ip);
    this.#handshakes.tick(nowMs);
    if (nowMs - this.#probedMs < this.#data.probeIntervalMs) return;
    this.#probedMs = nowMs;
    for (const peer of this.#book.all) {
      const isSilent = nowMs - peer.lastReceivedMs >= SILENT_MS;
      if (peer.hasKey && (peer.session === undefined || isSilent)) {
        this.#handshakes.want(peer, nowMs);
      }
      this.#control.ping(peer, nowMs);
    }
  }

  #stats(): TunnelStats {
    return {
      packets: { ...this.#router.counts },
      incoming: { ...this.#incoming.counts },
      handshakes: { ...this.#handshakes.counts },
      flows: { count: this.#flows.size, evicted: this.#flows.evicted },
      waitedInVain: this.#parked.dropped,
      sendFailed: this.#outgoing.counts.sendFailed,
      writeFailed: this.#writer.failed,
      peers: [...this.#book.all].map((peer) => ({
        node: peer.node,
        endpoint: endpointOf(peer),
        mode: peer.hasKey ? peer.session?.mode : peer.spec.modes[0],
        roundTripMs: peer.roundTripMs,
        bytesIn: peer.bytesIn,
        bytesOut: peer.bytesOut,
      })),
    };
  }
}

export function createTunnelProgram(context: LoopContext): LoopProgram {
  if (!isTunnelData(context.data)) throw new Error("a tunnel was started without its data");
  return new TunnelProgram(context, context.data);
}

function endpointOf(peer: Peer): string {
  if (peer.nameBytes === 0) return "";
  return formatSocketAddress(getSockaddr(peer.name.view, 0, peer.nameBytes));
}
