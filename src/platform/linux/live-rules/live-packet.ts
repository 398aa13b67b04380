import { familyOf } from "../../../core/model/address.ts";
import type { Packet } from "../../../core/route/packet.ts";
import type { Value } from "./pattern.ts";
import type { PacketField, WordsField } from "./ruleset.ts";

/** What is known of the machine that a packet is on. */
export interface LiveFacts {
  /** Whether the address is one of the machine's own. */
  isLocalAddress(ip: string): boolean;
  /** Where packets from, or to, an address pass; undefined where nobody knows. */
  interfaceOf(ip: string): string | undefined;
  /** The links whose packets come by this one as well: the ports of a bridge, what a VLAN is on. */
  linksBeneath(link: string): ReadonlySet<string>;
  /** Whether xt_recent has the address in a list; undefined where nobody knows. */
  wasSeen(list: string, ip: string, seconds: number | undefined): boolean | undefined;
}

const LOOPBACK_INTERFACE = "lo";
/** What the first packet of a connection has, and nothing else. */
const TCP_SYN = 2;

/** A packet on its way: rules read it and change it. */
export class LivePacket {
  readonly #facts: LiveFacts;
  readonly protocol: string;
  readonly src: string;
  readonly srcPort: number | undefined;
  readonly isFromNode: boolean;
  dst: string;
  dstPort: number;
  readonly originalDst: string;
  readonly originalDstPort: number;
  readonly tcpFlags: number = TCP_SYN;
  mark = 0;
  connectionMark = 0;
  priority = 0;
  isDestinationTranslated = false;
  /** Whether rules decided about the destination, be it that it stays. */
  isDestinationSettled = false;
  isSourceTranslated = false;
  isSourceSettled = false;
  isTracked = true;
  /** Whether it came in, or comes in again over loopback. */
  hasComeIn = false;
  isLeaving = false;
  /** Whether it is at one of the links beneath that which it comes or goes by. */
  isBeneath = false;
  /** Whether IPVS sent it on, and whether that was at the hook where it is. */
  wasSentOn = false;
  isBeingSentOn = false;

  constructor(packet: Packet, facts: LiveFacts) {
    this.#facts = facts;
    this.protocol = packet.protocol.toLowerCase();
    this.src = packet.src;
    this.srcPort = packet.srcPort;
    this.dst = packet.dst;
    this.dstPort = packet.dstPort;
    this.originalDst = packet.dst;
    this.originalDstPort = packet.dstPort;
    this.isFromNode = packet.from === "node";
  }

  get isForThisMachine(): boolean {
    return this.#facts.isLocalAddress(this.dst);
  }

  /** IPVS sends it to a real server. */
  sendOn(address: string, port: number): void {
    this.dst = address;
    this.dstPort = port;
    this.isDestinationSettled = true;
    this.isDestinationTranslated = true;
    this.isBeingSentOn = true;
  }

  /** Nothing translates it any more. */
  untrack(): void {
    this.isTracked = false;
    this.isDestinationSettled = true;
    this.isSourceSettled = true;
  }

  /** The link that it comes by, or goes by, at this hook; undefined where nobody knows. */
  linkAt(hook: "ingress" | "egress"): string | undefined {
    return hook === "ingress" ? this.#inInterface() : this.#outInterface();
  }

  /** Undefined where nobody knows. */
  read(field: PacketField): Value | undefined {
    switch (field) {
      case "src":
      case "dst":
      case "srcPort":
      case "dstPort":
      case "protocol":
      case "mark":
      case "priority":
      case "connectionMark":
      case "originalDst":
      case "originalDstPort":
      case "tcpFlags":
        return this[field];
      case "family":
        return familyOf(this.dst);
      case "srcType":
        return this.#typeOf(this.src);
      case "dstType":
        return this.#typeOf(this.dst);
      case "connectionState":
        return this.#state;
      case "inInterface":
        return this.isBeneath ? undefined : this.#inInterface();
      case "outInterface":
        return this.isBeneath ? undefined : this.#outInterface();
      // Packets are said to come in where answers go out.
      case "returnLink":
        return this.#inInterface();
    }
  }

  /** It is the first of its flow. */
  readWords(field: WordsField): readonly string[] {
    if (!this.isTracked && field !== "ct-state") return [];
    const translated = this.isDestinationTranslated ? ["dnat"] : [];
    switch (field) {
      case "ct-state":
        return [this.#state, ...translated];
      case "ct-status":
        return translated;
      case "ct-direction":
        return ["original"];
    }
  }

  wasSeen(list: string, seconds: number | undefined): boolean | undefined {
    return this.#facts.wasSeen(list, this.src, seconds);
  }

  get #state(): string {
    return this.isTracked ? "new" : "untracked";
  }

  #typeOf(ip: string): string {
    return this.#facts.isLocalAddress(ip) ? "local" : "unicast";
  }

  /** Where a hook has no such interface, its name is empty. */
  #inInterface(): string | undefined {
    if (!this.hasComeIn) return "";
    return this.isFromNode ? LOOPBACK_INTERFACE : this.#facts.interfaceOf(this.src);
  }

  #outInterface(): string | undefined {
    if (!this.isLeaving) return "";
    return this.isForThisMachine ? LOOPBACK_INTERFACE : this.#facts.interfaceOf(this.dst);
  }
}
