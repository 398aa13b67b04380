import { SOCKADDR_BYTES } from "../../platform/linux/abi.ts";
import { allocateNative, type NativeMemory } from "../../platform/linux/native-memory.ts";
import { putSockaddr, sockaddrKey } from "../../platform/linux/sockaddr.ts";
import type { IpSocketAddress } from "../../platform/socket-address.ts";
import type { RoutePeer } from "../flows/packet-router.ts";
import type { Session } from "./session.ts";

export type TunnelMode = "secure" | "fast" | "compat";

/** Another node, as it is told. */
export interface PeerSpec {
  readonly node: string;
  /** Where its tunnel is; missing where it is not known before it calls. */
  readonly endpoint?: IpSocketAddress | undefined;
  /** The networks of its workloads: what it sends comes from there, and nothing else is taken from it. */
  readonly subnets: readonly string[];
  /** Base64; it must be there for `secure`. */
  readonly publicKey?: string | undefined;
  /**
   * What it may agree on, the best one first. With a key each is agreed on in a handshake; without one there
   * can be one only, `fast` or `compat`, and it is told apart by its address alone.
   */
  readonly modes: readonly TunnelMode[];
}

/** Weight of a round-trip time that is longer than those before it. */
const SMOOTHING = 0.25;

/** Another node, as it is at this moment. */
export class Peer implements RoutePeer {
  readonly node: string;
  #spec: PeerSpec;
  /** It is known by a key; else by its address alone. */
  hasKey = false;
  isCompat = false;
  isGone = false;
  /** A sockaddr; `nameBytes` is 0 where it is not known. */
  readonly name: NativeMemory = allocateNative(SOCKADDR_BYTES);
  nameBytes = 0;
  endpointKey: number | string = "";
  /** Packets may be so long on the way to it; 0 where that is not known. */
  maxPacketBytes = 0;
  /** Longer datagrams are cut on the way to it; 0 where that is not known. */
  maxDatagramBytes = 0;
  /** What is sent goes by this one. */
  session: Session | undefined;
  /** Smoothed; undefined where none was measured yet. */
  roundTripMs: number | undefined;
  lastReceivedMs = 0;
  lastSentMs = 0;
  bytesIn = 0;
  bytesOut = 0;

  constructor(spec: PeerSpec) {
    this.node = spec.node;
    this.#spec = spec;
    this.spec = spec;
  }

  get spec(): PeerSpec {
    return this.#spec;
  }

  /** What packets ask of it is at hand: specs come in all forms, and would be looked through for each packet. */
  set spec(spec: PeerSpec) {
    this.#spec = spec;
    this.hasKey = spec.publicKey !== undefined;
    this.isCompat = !this.hasKey && spec.modes[0] === "compat";
  }

  get wantsServiceSources(): boolean {
    return this.isCompat;
  }

  setEndpoint(endpoint: IpSocketAddress): void {
    this.nameBytes = putSockaddr(this.name.view, 0, endpoint);
    this.endpointKey = sockaddrKey(this.name.view, 0, this.nameBytes);
    this.maxPacketBytes = 0;
    this.maxDatagramBytes = 0;
  }

  /** A busy machine makes it longer, and nothing makes it shorter than the way is: what is shorter is true at once. */
  noteRoundTrip(ms: number): void {
    const before = this.roundTripMs ?? ms;
    this.roundTripMs = ms <= before ? ms : before + (ms - before) * SMOOTHING;
  }
}
