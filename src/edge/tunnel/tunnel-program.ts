import { messageOf } from "../../core/errors.ts";
import type { LoopContext, LoopProgram } from "../../net/threads/loop-program.ts";
import { errnoName } from "../../platform/errno.ts";
import { AwakeProcessors } from "../../platform/linux/awake-processors.ts";
import type { AeadCalls } from "../../platform/linux/openssl/aead-calls.ts";
import { getSockaddr } from "../../platform/linux/sockaddr.ts";
import { setTunOffloads } from "../../platform/linux/tun-device.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import { generateKeyPair } from "../../platform/x25519.ts";
import type { FlowPlace } from "../flows/flow.ts";
import { LOCAL, type Target } from "../flows/packet-router.ts";
import { type KernelPath, type KernelPathStats, noKernelPath } from "../kernel-path/kernel-path.ts";
import { openKernelPath } from "../kernel-path/open-kernel-path.ts";
import { AwakeWhileBusy } from "./awake-while-busy.ts";
import { DataPath, type DataPathEvents } from "./data-path.ts";
import { FlowKeeper } from "./flow-keeper.ts";
import { Handshakes, TUNNEL_IDENTIFIER } from "./handshakes.ts";
import type { Sender } from "./incoming.ts";
import { listFlows } from "./list-flows.ts";
import { Lookups } from "./lookups.ts";
import { ParkedPackets } from "./parked-packets.ts";
import { datagramBytesTo, packetBytesIn } from "./path-mtu.ts";
import { Peer, type PeerSpec } from "./peer.ts";
import type { Session } from "./session.ts";
import { TunnelControl } from "./tunnel-control.ts";
import { parseKeyPair } from "./tunnel-keys.ts";
import {
  isTunnelCommand,
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
export class TunnelProgram implements LoopProgram {
  readonly openCount = 0;
  readonly #context: LoopContext;
  readonly #data: TunnelData;
  readonly #keeper: FlowKeeper;
  readonly #path: DataPath;
  readonly #control: TunnelControl;
  readonly #handshakes: Handshakes;
  readonly #lookups = new Lookups();
  readonly #parked = new ParkedPackets();
  readonly #doubtedMs = new Map<string, number>();
  readonly #awake: AwakeWhileBusy;
  readonly #kernel: KernelPath | undefined;
  /** Why there is no kernel path. */
  #noKernelReason = "it is turned off";
  #probedMs = 0;
  readonly #startedMs: number;

  constructor(context: LoopContext, data: TunnelData, aead: AeadCalls) {
    this.#context = context;
    this.#data = data;
    this.#startedMs = context.net.loop.nowMs;
    this.#keeper = new FlowKeeper(data.keptFlows);
    this.#awake = new AwakeWhileBusy(new AwakeProcessors(), data.awakeMs, (error) =>
      context.log.warn({ reason: messageOf(error) }, "processors can not be kept awake"),
    );
    this.#kernel = this.#openKernelPath();
    this.#path = new DataPath({
      node: data.node,
      tun: data.tun,
      udp: data.udp,
      mtu: data.mtu,
      subnets: data.subnets,
      serviceRanges: data.serviceRanges,
      hairpin: data.hairpin,
      maxFlows: data.maxFlows,
      observer: this.#keeper,
      mirror: this.#kernel?.flows,
      events: this.#createEvents(),
    });
    this.#control = new TunnelControl(this.#path.outgoing);
    this.#handshakes = this.#createHandshakes(aead);
    this.#chooseOffloads();
    this.#kernel?.begin(this.#path.book.routes);
    this.#path.serve(context.net, (result) =>
      this.#report({ kind: "lost", reason: errnoName(result) }),
    );
    context.net.loop.period(TICK_MS, () => this.#tick());
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
    this.#awake.close();
    this.#path.close();
    this.#kernel?.close();
  }

  #openKernelPath(): KernelPath | undefined {
    const { log, net } = this.#context;
    if (this.#data.kernelPath === "off") return undefined;
    try {
      return openKernelPath(this.#data, {
        isHeard: (peer) => this.#path.book.at(peer.endpointKey) === peer,
        nowMs: () => net.loop.nowMs,
        log,
      });
    } catch (error) {
      this.#noKernelReason = messageOf(error);
      log.info(
        { reason: this.#noKernelReason },
        "all packets pass this process, none the kernel alone",
      );
      return undefined;
    }
  }

  #report(report: TunnelReport): void {
    this.#context.report(report);
  }

  get #nowMs(): number {
    return this.#context.net.loop.nowMs;
  }

  #createEvents(): DataPathEvents {
    return {
      onHandshake: (message, sender) =>
        this.#handshakes.onMessage(message, this.#nowMs, {
          answer: (peer, answer) => this.#path.outgoing.sendMessage(peerAt(peer, sender), answer),
          isPeer: (peer) => this.#follow(peer, sender),
        }),
      onControl: (peer, view, at, byteCount) =>
        this.#control.take(peer, view, at, byteCount, this.#nowMs),
      onConfirmed: (session) => this.#confirm(session),
      onMoved: (peer, sender) => this.#follow(peer, sender),
      onDoubtful: (peer, sender) => this.#doubt(peer, sender),
      onUnknown: (ip, packet) => this.#onUnknown(ip, packet),
      onUnready: (peer, packet) => this.#onUnready(peer, packet),
      onTooLong: (peer) => this.#measureWay(peer),
      onUnknownSource: (ip) => this.#onUnknownSource(ip),
    };
  }

  #createHandshakes(aead: AeadCalls): Handshakes {
    const { privateKey } = this.#data;
    // Without a key of its own a node has no peers with keys: then this one is never shown to anybody.
    const identity = privateKey === undefined ? generateKeyPair() : parseKeyPair(privateKey);
    return new Handshakes({
      handshaker: { identity, identifier: TUNNEL_IDENTIFIER },
      book: this.#path.book,
      aead,
      rekeyAfterMs: this.#data.rekeyAfterMs,
      send: (peer, message) => this.#path.outgoing.sendMessage(peer, message),
      onSession: (peer, session) => this.#onSession(peer, session),
      share: (keys) => this.#kernel?.share(keys),
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
        const flows = listFlows(this.#path.flows.flows(), command.limit);
        this.#report({ kind: "flows", request: command.request, flows });
        return;
      }
    }
  }

  /** What goes makes room for what comes. */
  #apply(command: Extract<TunnelCommand, { kind: "apply" }>): void {
    for (const node of command.deletedPeers) this.#removePeer(node);
    // What one peer has now may have been another one's before.
    for (const { node } of command.peers) this.#path.book.release(node);
    for (const spec of command.peers) this.#setPeer(spec);
    for (const key of command.deletedServices) this.#path.table.delete(key);
    this.#path.table.setAll(command.services);
    this.#kernel?.review(this.#path.book.routes);
    this.#chooseOffloads();
    // Before packets that waited: they may be of a connection that goes on.
    this.#keeper.resume(this.#path.flows, (server) => this.#placeOf(server), this.#nowMs);
    for (const { addresses } of command.services) {
      for (const { address } of addresses) {
        this.#lookups.found(address);
        this.#resume(address);
      }
    }
  }

  #placeOf(server: string): FlowPlace<Target<Peer>> | undefined {
    const instance = this.#path.table.instanceAt(server);
    const { node } = this.#data;
    const target = instance?.node === node ? LOCAL : this.#path.book.get(instance?.node ?? "");
    return instance && target && { instance, target };
  }

  #removePeer(node: string): void {
    const peer = this.#path.book.remove(node);
    if (peer === undefined) return;
    this.#handshakes.forget(peer);
    this.#kernel?.refresh(peer);
    this.#parked.drop(PEER_MARK + node);
    this.#doubtedMs.delete(node);
  }

  #setPeer(spec: PeerSpec): void {
    const { peer, isAnother } = this.#path.book.set(spec);
    if (isAnother) this.#handshakes.forget(peer);
    this.#kernel?.refresh(peer);
    this.#measureWay(peer);
    this.#handshakes.want(peer, this.#nowMs);
  }

  /** A peer that takes single packets only has the kernel cut them for all. */
  #chooseOffloads(): void {
    const wanted = ![...this.#path.book.all].some((peer) => peer.isCompat);
    this.#path.sink.takesUdpRuns = setTunOffloads(this.#data.tun, wanted) === "tcp-udp";
  }

  #measureWay(peer: Peer): void {
    if (peer.nameBytes === 0) return;
    peer.maxDatagramBytes = datagramBytesTo(peer, this.#data.isV6Socket);
    const limit = packetBytesIn(peer.maxDatagramBytes);
    peer.maxPacketBytes = limit < this.#data.mtu ? limit : 0;
    const limits = [...this.#path.book.all].map(({ maxPacketBytes }) => maxPacketBytes);
    this.#path.intake.shortestWay = Math.min(Number.POSITIVE_INFINITY, ...limits.filter(Boolean));
  }

  #follow(peer: Peer, { names, at, byteCount, key }: Sender): void {
    if (peer.endpointKey === key) return;
    const address = getSockaddr(names.view, at, byteCount);
    if (address.family === "unix") return;
    const before = peer.endpointKey;
    peer.setEndpoint(address);
    this.#path.book.noteMoved(peer, before);
    this.#kernel?.refresh(peer);
    this.#measureWay(peer);
    this.#report({ kind: "moved", node: peer.node, endpoint: formatSocketAddress(address) });
  }

  /** Asks it there: what it answers is sealed, and moves it. */
  #doubt(peer: Peer, sender: Sender): void {
    const nowMs = this.#nowMs;
    if (nowMs - (this.#doubtedMs.get(peer.node) ?? -DOUBT_MS) < DOUBT_MS) return;
    this.#doubtedMs.set(peer.node, nowMs);
    this.#control.ping(peerAt(peer, sender), nowMs);
  }

  #confirm(session: Session): void {
    const peer = this.#path.book.get(session.node);
    const isNewer = peer?.session === undefined || peer.session.createdMs < session.createdMs;
    if (peer === undefined) return;
    if (isNewer) this.#handshakes.use(peer, session);
    // Where both ends began one, each sends by its own.
    else this.#kernel?.use(peer, session);
  }

  #onSession(peer: Peer, session: Session): void {
    this.#kernel?.use(peer, session);
    this.#control.ping(peer, this.#nowMs);
    this.#resume(PEER_MARK + peer.node);
  }

  #onUnknown(ip: string, packet: Uint8Array): void {
    const what = this.#lookups.note(ip, this.#nowMs);
    if (what === "drop") {
      this.#path.router.counts.noRoute += 1;
      return;
    }
    this.#parked.park(ip, packet, this.#nowMs);
    if (what === "ask") this.#report({ kind: "lookup", address: ip });
  }

  /** Who sends from a service that is not known is asked for; its packets are sent again, or are lost. */
  #onUnknownSource(ip: string): void {
    if (!this.#data.looksUpSenders || this.#lookups.note(ip, this.#nowMs) !== "ask") return;
    this.#report({ kind: "lookup", address: ip });
  }

  #onUnready(peer: Peer, packet: Uint8Array): void {
    this.#parked.park(PEER_MARK + peer.node, packet, this.#nowMs);
    this.#handshakes.want(peer, this.#nowMs);
  }

  #resume(what: string): void {
    for (const packet of this.#parked.take(what)) this.#path.intake.resume(packet, this.#nowMs);
  }

  #tick(): void {
    const nowMs = this.#nowMs;
    this.#kernel?.tick(nowMs);
    if (this.#data.awakeMs > 0) this.#noteBusy(nowMs);
    this.#path.flows.expire(nowMs, EXPIRED_A_TICK);
    if (nowMs - this.#startedMs >= GIVE_UP_MS) this.#keeper.giveUp();
    const news = this.#keeper.takeNews(this.#path.flows);
    if (news !== undefined) this.#report({ kind: "keep", news });
    for (const ip of this.#lookups.expire(nowMs)) this.#parked.drop(ip);
    this.#parked.expire(nowMs);
    this.#handshakes.tick(nowMs);
    if (nowMs - this.#probedMs < this.#data.probeIntervalMs) return;
    this.#probedMs = nowMs;
    for (const peer of this.#path.book.all) {
      const isSilent = nowMs - peer.lastReceivedMs >= SILENT_MS;
      // How far it was says nothing of one that does not answer any more.
      if (isSilent) peer.roundTripMs = undefined;
      if (peer.hasKey && (peer.session === undefined || isSilent)) {
        this.#handshakes.want(peer, nowMs);
      }
      this.#control.ping(peer, nowMs);
    }
  }

  #noteBusy(nowMs: number): void {
    const { toPeers, fromPeers } = this.#path.router.counts;
    const { sent, received } = this.#kernelStats();
    this.#awake.note(toPeers + fromPeers + sent + received, nowMs);
  }

  #kernelStats(): KernelPathStats {
    return this.#kernel?.stats() ?? noKernelPath(this.#noKernelReason);
  }

  #stats(): TunnelStats {
    const { counts } = this.#path.router;
    const kernelPath = this.#kernelStats();
    return {
      packets: {
        ...counts,
        toPeers: counts.toPeers + kernelPath.sent,
        fromPeers: counts.fromPeers + kernelPath.received,
        toLocal: counts.toLocal + kernelPath.received,
      },
      kernelPath,
      incoming: { ...this.#path.incoming.counts },
      handshakes: { ...this.#handshakes.counts },
      flows: { count: this.#path.flows.size, evicted: this.#path.flows.evicted },
      waitedInVain: this.#parked.dropped,
      sendFailed: this.#path.outgoing.counts.sendFailed,
      writeFailed: this.#path.writer.failed,
      peers: [...this.#path.book.all].map((peer) => ({
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

/** The same peer where it may be, for one message; what is known of it does not change. */
function peerAt(peer: Peer, { names, at, byteCount }: Sender): Peer {
  const there = new Peer(peer.spec);
  there.session = peer.session;
  const address = getSockaddr(names.view, at, byteCount);
  if (address.family !== "unix") there.setEndpoint(address);
  return there;
}

function endpointOf(peer: Peer): string {
  if (peer.nameBytes === 0) return "";
  return formatSocketAddress(getSockaddr(peer.name.view, 0, peer.nameBytes));
}
