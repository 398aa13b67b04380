import { LOCAL, type Target } from "../flows/packet-router.ts";
import { PrefixMap } from "../flows/prefix-map.ts";
import { Peer, type PeerSpec } from "./peer.ts";
import type { Session } from "./session.ts";

/** The other nodes: by name, by key, by where they are, and by the sessions with them. */
export class PeerBook {
  /** Whose the addresses of workloads are. */
  readonly routes: PrefixMap<Target<Peer>> = new PrefixMap();
  readonly #peers = new Map<string, Peer>();
  readonly #byEndpoint = new Map<number | string, Peer>();
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
    for (const subnet of this.#peers.get(node)?.spec.subnets ?? []) this.routes.delete(subnet);
  }

  remove(node: string): Peer | undefined {
    const peer = this.#peers.get(node);
    if (peer === undefined) return undefined;
    this.#unlink(peer);
    peer.isGone = true;
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
  }

  #unlink(peer: Peer): void {
    const { node, subnets, publicKey } = peer.spec;
    this.#peers.delete(node);
    for (const subnet of subnets) this.routes.delete(subnet);
    if (publicKey !== undefined) this.#byKey.delete(publicKey);
    if (this.#byEndpoint.get(peer.endpointKey) === peer) this.#byEndpoint.delete(peer.endpointKey);
  }
}
