import { LOCAL, type Target } from "../flows/packet-router.ts";
import { PrefixMap } from "../flows/prefix-map.ts";
import { Peer, type PeerSpec } from "./peer.ts";
import type { Session } from "./session.ts";

/** ip(7), ipv6(7): where the port is, and how many there are. */
const PORT_AT = 2;
const PORTS = 65_536;

/** The other nodes: by name, by key, by where they are, and by the sessions with them. */
export class PeerBook {
  /** Whose the addresses of workloads are. */
  readonly routes: PrefixMap<Target<Peer>> = new PrefixMap();
  readonly #peers = new Map<string, Peer>();
  readonly #byEndpoint = new Map<number | string, Peer>();
  readonly #compatByHost = new Map<number | string, readonly Peer[]>();
  readonly #byKey = new Map<string, Peer>();
  readonly #sessions = new Map<number, Session>();

  constructor(localSubnets: readonly string[]) {
    for (const subnet of localSubnets) this.routes.add(subnet, LOCAL);
  }

  get all(): Iterable<Peer> {
    return this.#peers.values();
  }

  get(node: string): Peer | undefined {
    return this.#peers.get(node);
  }

  /** For those without a key: they are known by their address alone. */
  at(endpointKey: number | string): Peer | undefined {
    return this.#byEndpoint.get(endpointKey);
  }

  /**
   * For those of mode `compat`: the first ProxyTUN sends from any port of its machine. Undefined where several
   * are on one machine, and it is the port of none of them.
   */
  compatAt(endpointKey: number | string): Peer | undefined {
    const exact = this.#byEndpoint.get(endpointKey);
    if (exact !== undefined) return exact.isCompat ? exact : undefined;
    const there = this.#compatByHost.get(hostKey(endpointKey));
    return there?.length === 1 ? there[0] : undefined;
  }

  withKey(publicKey: string): Peer | undefined {
    return this.#byKey.get(publicKey);
  }

  /** Adds a peer, or changes what is known of it. Returns it, and whether its sessions hold no longer. */
  set(spec: PeerSpec): { readonly peer: Peer; readonly isAnother: boolean } {
    const there = this.#peers.get(spec.node);
    const peer = there ?? new Peer(spec);
    if (there !== undefined) this.#unlink(there);
    const { endpoint } = spec;
    const before = there?.spec;
    const hasMoved =
      endpoint !== undefined &&
      (endpoint.ip !== before?.endpoint?.ip || endpoint.port !== before.endpoint.port);
    const isAnother =
      before !== undefined &&
      (before.publicKey !== spec.publicKey || before.modes.join() !== spec.modes.join());
    peer.spec = spec;
    if (hasMoved) peer.setEndpoint(endpoint);
    this.#link(peer);
    return { peer, isAnother };
  }

  /** Gives up its networks, until it is set again. */
  release(node: string): void {
    const peer = this.#peers.get(node);
    if (peer === undefined) return;
    for (const subnet of peer.spec.subnets) this.routes.delete(subnet, peer);
  }

  remove(node: string): Peer | undefined {
    const peer = this.#peers.get(node);
    if (peer === undefined) return undefined;
    this.#unlink(peer);
    peer.isGone = true;
    // Its sessions are freed: what still holds the peer must not seal with one.
    for (const session of this.sessions) if (session.node === node) this.dropSession(session);
    peer.session = undefined;
    return peer;
  }

  /** A peer without a key, or one that was authenticated, is somewhere else now. */
  noteMoved(peer: Peer, before: number | string): void {
    if (this.#byEndpoint.get(before) === peer) this.#byEndpoint.delete(before);
    if (!peer.hasKey) this.#byEndpoint.set(peer.endpointKey, peer);
  }

  session(index: number): Session | undefined {
    return this.#sessions.get(index);
  }

  hasIndex(index: number): boolean {
    return this.#sessions.has(index);
  }

  addSession(session: Session): void {
    this.#sessions.set(session.localIndex, session);
  }

  /** It is freed: nothing may be sealed or opened with it after that. */
  dropSession(session: Session): void {
    if (this.#sessions.get(session.localIndex) !== session) return;
    this.#sessions.delete(session.localIndex);
    const peer = this.#peers.get(session.node);
    if (peer?.session === session) peer.session = undefined;
    session.free();
  }

  get sessions(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  #link(peer: Peer): void {
    const { node, subnets, publicKey } = peer.spec;
    this.#peers.set(node, peer);
    for (const subnet of subnets) this.routes.add(subnet, peer);
    if (publicKey !== undefined) this.#byKey.set(publicKey, peer);
    else if (peer.nameBytes > 0) this.#byEndpoint.set(peer.endpointKey, peer);
    this.#setCompat(peer, peer.isCompat);
  }

  #unlink(peer: Peer): void {
    const { node, subnets, publicKey } = peer.spec;
    this.#peers.delete(node);
    // What was its own may be another one's by now.
    for (const subnet of subnets) this.routes.delete(subnet, peer);
    if (publicKey !== undefined && this.#byKey.get(publicKey) === peer) {
      this.#byKey.delete(publicKey);
    }
    if (this.#byEndpoint.get(peer.endpointKey) === peer) this.#byEndpoint.delete(peer.endpointKey);
    this.#setCompat(peer, false);
  }

  #setCompat(peer: Peer, isThere: boolean): void {
    const key = hostKey(peer.endpointKey);
    const others = (this.#compatByHost.get(key) ?? []).filter((other) => other !== peer);
    const now = isThere && peer.nameBytes > 0 ? [...others, peer] : others;
    if (now.length === 0) this.#compatByHost.delete(key);
    else this.#compatByHost.set(key, now);
  }
}

/** Of `sockaddrKey`: the same for all ports of a machine. */
function hostKey(endpointKey: number | string): number | string {
  if (typeof endpointKey === "number") return Math.floor(endpointKey / PORTS);
  return endpointKey.slice(0, PORT_AT) + endpointKey.slice(PORT_AT + 2);
}
