import { type AddressWords, ipOfWords, wordsOfIp } from "../../wire/ip/address-words.ts";
import { isIcmpError } from "../../wire/ip/icmp-error.ts";
import { TCP_ACK, TCP_SYN } from "../../wire/ip/ip-numbers.ts";
import { FIRST_FRAGMENT, IpPacket, LATER_FRAGMENT, swapPorts } from "../../wire/ip/ip-packet.ts";
import { type PacketEnds, Translation } from "../../wire/ip/translate.ts";
import type { LiveInstance } from "../table/live-instance.ts";
import type { Observed, ServiceTable } from "../table/service-table.ts";
import { type FlowEnd, type FlowPlan, isBack, NO_FLOW } from "./flow.ts";
import type { FlowTable } from "./flow-table.ts";
import { FragmentTable } from "./fragment-table.ts";
import { noPackets, type PacketCounter, type PacketCounts } from "./packet-counters.ts";
import type { PrefixMap } from "./prefix-map.ts";
import { QuotedPacket, translateError } from "./translate-error.ts";

/** Another node, as far as packets are concerned. */
export interface RoutePeer {
  readonly node: string;
  /** True once it is no peer any more. */
  readonly isGone: boolean;
  /** It takes clients only by the addresses that mean them, as the first ProxyTUN did. */
  readonly wantsServiceSources: boolean;
}

/** This node itself. */
export const LOCAL = "local";
export type Target<P> = P | typeof LOCAL;

/** Nothing more is to be done: it was counted. */
export const DROPPED = "dropped";
/** Its destination may be a service that the table does not have yet: `router.unknown`. */
export const UNKNOWN = "unknown";
/** Nobody serves what it is for: its sender is to be told. */
export const REFUSED = "refused";
export type Verdict<P> = Target<P> | typeof DROPPED | typeof UNKNOWN | typeof REFUSED;

export interface PacketRouterOptions<P extends RoutePeer> {
  readonly table: ServiceTable;
  readonly flows: FlowTable<Target<P>>;
  /** Whose the addresses of workloads are; this node's are LOCAL. */
  readonly routes: PrefixMap<Target<P>>;
  /** Where addresses of services are, known or not. */
  readonly serviceRanges: PrefixMap<true>;
  readonly observed: Observed;
  /** What stands for a local client before a local server, where no address means just that client. */
  readonly hairpin: {
    readonly v4: AddressWords | undefined;
    readonly v6: AddressWords | undefined;
  };
  peerOf(node: string): Target<P> | undefined;
  /** A peer that uses addresses of services as sources sent from one that the table does not have. */
  readonly onUnknownSource?: (ip: string) => void;
}

const NO_ADDRESS: AddressWords = { isV6: false, w0: 0, w1: 0, w2: 0, w3: 0 };
const NO_ENDS: PacketEnds = { source: NO_ADDRESS, destination: NO_ADDRESS, ports: 0 };
const PORT_MASK = 0xffff;
const PORT_TRIES = 128;
const FIRST_SPARE_PORT = 32_768;

/**
 * Decides where a packet goes, and writes the ends that it has there. Flows to services are kept by
 * the node of the client alone: what comes back gets the service's address here.
 */
export class PacketRouter<P extends RoutePeer> {
  readonly counts: PacketCounts = noPackets();
  /** The packet that was looked at last. */
  readonly packet: IpPacket = new IpPacket();
  /** Of the last verdict UNKNOWN. */
  unknown = "";
  readonly #options: PacketRouterOptions<P>;
  readonly #fragments = new FragmentTable<{
    readonly translation: Translation | undefined;
    readonly target: Target<P>;
  }>();
  /** Of the packet at hand. */
  readonly #translation = new Translation(NO_ENDS, NO_ENDS);
  readonly #quoted = new QuotedPacket();
  #nextPort = FIRST_SPARE_PORT;

  constructor(options: PacketRouterOptions<P>) {
    this.#options = options;
  }

  /** A packet of a workload here. */
  fromLocal(
    view: DataView,
    offset: number,
    byteCount: number,
    isPartial: boolean,
    nowMs: number,
  ): Verdict<P> {
    const { packet } = this;
    const { flows, routes } = this.#options;
    if (!packet.parse(view, offset, byteCount)) return this.#drop("malformed");
    if (packet.fragment === LATER_FRAGMENT) return this.#followFirst(view, offset, nowMs);
    let end = packet.hasPorts ? flows.find(packet) : NO_FLOW;
    if (end !== NO_FLOW && this.#isOver(end)) {
      flows.remove(end);
      end = NO_FLOW;
    }
    if (end === NO_FLOW && isIcmpError(view, offset, packet)) {
      const verdict = this.#followError(view, offset, LOCAL);
      if (verdict !== undefined) return verdict;
    }
    if (end === NO_FLOW) {
      const target = routes.find(packet.isV6, packet.d0, packet.d1, packet.d2, packet.d3);
      if (target !== undefined && target !== LOCAL) return this.#pass(target, nowMs);
      const planned = this.#newFlow(nowMs);
      if (typeof planned === "string") return planned;
      end = planned;
    }
    return this.#follow(end, view, offset, isPartial, nowMs);
  }

  /** A packet that a peer sent; a peer never gets another one's packets from here. */
  fromPeer(
    peer: P,
    view: DataView,
    offset: number,
    byteCount: number,
    isPartial: boolean,
    nowMs: number,
  ): typeof LOCAL | typeof DROPPED {
    const { packet } = this;
    const { flows, routes } = this.#options;
    if (!packet.parse(view, offset, byteCount)) return this.#drop("malformed");
    this.counts.fromPeers += 1;
    if (!this.#isSourceOf(peer)) {
      if (peer.wantsServiceSources) this.tellUnknownSource();
      return this.#drop("forgedSource");
    }
    if (packet.fragment === LATER_FRAGMENT) {
      const verdict = this.#followFirst(view, offset, nowMs);
      return verdict === LOCAL ? LOCAL : this.#drop("notForUs");
    }
    const end = packet.hasPorts ? flows.find(packet) : NO_FLOW;
    if (end !== NO_FLOW && isBack(end)) {
      this.#follow(end, view, offset, isPartial, nowMs);
      return LOCAL;
    }
    const isError = end === NO_FLOW && isIcmpError(view, offset, packet);
    if (isError && this.#followError(view, offset, peer) !== undefined) return LOCAL;
    const target = routes.find(packet.isV6, packet.d0, packet.d1, packet.d2, packet.d3);
    if (target !== LOCAL) return this.#drop("notForUs");
    this.#pass(LOCAL, nowMs);
    return LOCAL;
  }

  /** Of the packet that was looked at last: its source may be a service that the table does not have yet. */
  tellUnknownSource(): void {
    const { onUnknownSource, serviceRanges, table } = this.#options;
    const { isV6, s0, s1, s2, s3 } = this.packet;
    if (onUnknownSource === undefined || !serviceRanges.find(isV6, s0, s1, s2, s3)) return;
    const ip = ipOfWords({ isV6, w0: s0, w1: s1, w2: s2, w3: s3 });
    if (!table.has(ip)) onUnknownSource(ip);
  }

  #drop(counter: PacketCounter): typeof DROPPED {
    this.counts[counter] += 1;
    return DROPPED;
  }

  #refuse(): typeof REFUSED {
    this.counts.noInstance += 1;
    return REFUSED;
  }

  #count(target: Target<P>): void {
    if (target === LOCAL) this.counts.toLocal += 1;
    else this.counts.toPeers += 1;
  }

  /** As it is. */
  #pass(target: Target<P>, nowMs: number): Target<P> {
    if (this.packet.fragment === FIRST_FRAGMENT) {
      this.#fragments.note(this.packet, { translation: undefined, target }, nowMs);
    }
    this.#count(target);
    return target;
  }

  #follow(
    end: FlowEnd,
    view: DataView,
    offset: number,
    isPartial: boolean,
    nowMs: number,
  ): Target<P> {
    const { packet } = this;
    const { flows } = this.#options;
    // Clients are here: what comes back is for this node.
    const target = isBack(end) ? LOCAL : flows.placeOf(end).target;
    flows.use(end, packet.tcpFlags, nowMs);
    if (packet.fragment === FIRST_FRAGMENT) this.#noteFirst(end, target, nowMs);
    flows.loadTranslation(end, this.#translation);
    this.#translation.apply(view, offset, packet, isPartial);
    this.#count(target);
    return target;
  }

  /** Its flow may be gone when the others come. */
  #noteFirst(end: FlowEnd, target: Target<P>, nowMs: number): void {
    const { from, to } = this.#options.flows.endsOf(end);
    const translation = new Translation(from, to);
    this.#fragments.note(this.packet, { translation, target }, nowMs);
  }

  /** An error about a packet of a flow goes the way of that flow. Undefined where it is about none. */
  #followError(view: DataView, offset: number, from: Target<P>): Target<P> | undefined {
    const { packet } = this;
    const quoted = this.#quoted.parse(view, offset, packet);
    const { flows } = this.#options;
    const end = quoted === undefined ? NO_FLOW : flows.find(quoted);
    if (quoted === undefined || end === NO_FLOW) return undefined;
    // Whom packets are not sent to can have nothing to say about them.
    const there = flows.placeOf(end).target;
    const sender = isBack(end) ? there : LOCAL;
    if (sender !== from) return undefined;
    const target = isBack(end) ? LOCAL : there;
    if (isGone(target)) return undefined;
    translateError(view, offset, packet, quoted, flows.endsOf(end));
    this.#count(target);
    return target;
  }

  #followFirst(view: DataView, offset: number, nowMs: number): Verdict<P> {
    const first = this.#fragments.find(this.packet, nowMs);
    if (first === undefined || isGone(first.target)) return this.#drop("lostFragment");
    first.translation?.apply(view, offset, this.packet, false);
    this.#count(first.target);
    return first.target;
  }

  /** Its instance or the way there is gone, or a new connection takes the place of one that ended. */
  #isOver(end: FlowEnd): boolean {
    if (isBack(end)) return false;
    const { flows } = this.#options;
    const { instance, target } = flows.placeOf(end);
    if (instance.isGone || isGone(target)) return true;
    const isNew = (this.packet.tcpFlags & (TCP_SYN | TCP_ACK)) === TCP_SYN;
    return isNew && flows.isClosing(end);
  }

  #isSourceOf(peer: P): boolean {
    const { isV6, s0, s1, s2, s3 } = this.packet;
    const { routes, table } = this.#options;
    if (routes.find(isV6, s0, s1, s2, s3) === peer) return true;
    if (!peer.wantsServiceSources) return false;
    const ip = ipOfWords({ isV6, w0: s0, w1: s1, w2: s2, w3: s3 });
    return table.meaningOf(ip)?.node === peer.node;
  }

  #newFlow(nowMs: number): FlowEnd | typeof DROPPED | typeof UNKNOWN | typeof REFUSED {
    const { packet } = this;
    const { table, flows, serviceRanges, observed } = this.#options;
    const { isV6, d0, d1, d2, d3 } = packet;
    const ip = ipOfWords({ isV6, w0: d0, w1: d1, w2: d2, w3: d3 });
    if (!table.has(ip)) {
      if (serviceRanges.find(isV6, d0, d1, d2, d3) === undefined) return this.#drop("noRoute");
      this.unknown = ip;
      return UNKNOWN;
    }
    if (!packet.hasPorts) return this.#drop("noRoute");
    const { peerOf } = this.#options;
    const { protocol } = packet;
    const called = packet.ports & PORT_MASK;
    const instance = table.pick(
      ip,
      observed,
      (one) => peerOf(one.node) !== undefined && one.targetOf(protocol, called) !== undefined,
    );
    const target = instance && peerOf(instance.node);
    if (instance === undefined || target === undefined) return this.#refuse();
    const plan = this.#plan(instance, target);
    if (plan === undefined) return this.#refuse();
    return flows.add(plan, instance, target, nowMs);
  }

  /** Undefined where no port is left by which what comes back could be told apart. */
  #plan(instance: LiveInstance, target: Target<P>): FlowPlan | undefined {
    const { packet } = this;
    const { isV6, protocol, ports } = packet;
    const client = { isV6, w0: packet.s0, w1: packet.s1, w2: packet.s2, w3: packet.s3 };
    const service = { isV6, w0: packet.d0, w1: packet.d1, w2: packet.d2, w3: packet.d3 };
    const server = instance.addressOf(isV6);
    const faces = server && this.#faces(client, server, instance, target);
    if (faces === undefined || server === undefined) return undefined;
    const asked = { source: client, destination: service, ports };
    const called = ports & PORT_MASK;
    const targetPort = instance.targetOf(protocol, called) ?? called;
    for (let tries = 0; tries < PORT_TRIES; tries += 1) {
      const from = tries === 0 ? ports >>> 16 : this.#sparePort();
      const used = (from << 16) | targetPort;
      const answered: PacketEnds = { ...faces.answered, ports: swapPorts(used) };
      if (this.#options.flows.has(protocol, answered)) continue;
      const sent = { source: faces.source, destination: server, ports: used };
      const returned = { source: service, destination: client, ports: swapPorts(ports) };
      return { protocol, asked, sent, answered, returned };
    }
    return undefined;
  }

  /** How the client looks to the server, and how what the server answers looks when it comes here. */
  #faces(
    client: AddressWords,
    server: AddressWords,
    instance: LiveInstance,
    target: Target<P>,
  ): { source: AddressWords; answered: Omit<PacketEnds, "ports"> } | undefined {
    const { table, hairpin } = this.#options;
    const meaning = (of: LiveInstance | undefined): AddressWords | undefined => {
      const ip = of && table.addressMeaning(of, client.isV6);
      return ip === undefined ? undefined : wordsOfIp(ip);
    };
    if (target === LOCAL) {
      // Two workloads of one bridge would answer each other directly, not through here.
      const source =
        meaning(table.instanceAt(ipOfWords(client))) ?? (client.isV6 ? hairpin.v6 : hairpin.v4);
      return source && { source, answered: { source: server, destination: source } };
    }
    if (!target.wantsServiceSources) {
      return { source: client, answered: { source: server, destination: client } };
    }
    const source = meaning(table.instanceAt(ipOfWords(client)));
    if (source === undefined) {
      return { source: client, answered: { source: server, destination: client } };
    }
    // What is sent to an address of a service comes from one, where the sender has one.
    return { source, answered: { source: meaning(instance) ?? server, destination: client } };
  }

  #sparePort(): number {
    this.#nextPort = this.#nextPort >= 0xffff ? FIRST_SPARE_PORT : this.#nextPort + 1;
    return this.#nextPort;
  }
}

function isGone(target: Target<RoutePeer>): boolean {
  return target !== LOCAL && target.isGone;
}
