import type { AeadCalls } from "../../platform/linux/openssl/aead-calls.ts";
import { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
import { type IpSocketAddress, ipAddress } from "../../platform/socket-address.ts";
import type { FlowPlan } from "../flows/flow.ts";
import type { EdgeService } from "../table/service-table.ts";
import { DataPath } from "./data-path.ts";
import type { Peer, PeerSpec } from "./peer.ts";
import { Session, type SessionMode } from "./session.ts";

const MTU = 1400;
const MAX_FLOWS = 2000;
/** More than a table of flows has room for at first. */
const GROWN_FLOWS = 1500;
const KEY_BYTES = 32;
/** The first round-trip times make peers what they are afterwards. */
const ROUND_TRIP_MS = 0.5;

export interface RehearsalNodeOptions {
  readonly node: string;
  readonly subnets: readonly string[];
  readonly tun: number;
  readonly udp: number;
  readonly other: {
    readonly node: string;
    readonly subnets: readonly string[];
    readonly endpoint: IpSocketAddress;
  };
  readonly service: EdgeService;
  /** Each node has one of its own: a call that always goes to one function would be compiled for just that. */
  readonly ignore: () => void;
  readonly aead: AeadCalls;
  readonly nowMs: number;
}

/** The data path of a node between two descriptors, with one peer. */
export class RehearsalNode {
  readonly path: DataPath;
  readonly #spec: Omit<PeerSpec, "modes">;
  readonly #peer: Peer;
  readonly #sessions: readonly Session[];

  constructor(options: RehearsalNodeOptions) {
    const { ignore } = options;
    this.path = new DataPath({
      node: options.node,
      tun: options.tun,
      udp: options.udp,
      mtu: MTU,
      subnets: options.subnets,
      serviceRanges: [],
      hairpin: [],
      maxFlows: MAX_FLOWS,
      observer: undefined,
      events: {
        onHandshake: ignore,
        onControl: ignore,
        onConfirmed: ignore,
        onMoved: ignore,
        onDoubtful: ignore,
        onUnknown: ignore,
        onUnready: ignore,
        onTooLong: ignore,
      },
    });
    const { book, table, sink } = this.path;
    this.#spec = options.other;
    this.#peer = book.set({ ...this.#spec, modes: ["fast"] }).peer;
    this.#peer.noteRoundTrip(ROUND_TRIP_MS);
    this.#sessions = (["secure", "fast"] as const).map((mode) => createSession(mode, options));
    for (const session of this.#sessions) book.addSession(session);
    table.set(options.service);
    sink.takesUdpRuns = true;
  }

  /**
   * Changes all that a tunnel changes now and then, and closes. What never changed is compiled as if it never could,
   * and when it does, that code is thrown away: so this is to be done with another node before the others are used.
   */
  shake(nowMs: number): void {
    const { book, flows, intake, sink, table } = this.path;
    intake.shortestWay = MTU;
    sink.takesUdpRuns = false;
    this.#peer.noteRoundTrip(ROUND_TRIP_MS);
    this.#peer.maxPacketBytes = MTU;
    this.#peer.setEndpoint(ipAddress("127.0.0.2", 1));
    this.changeMode(0);
    this.changeMode(1);
    const [service] = table.services();
    const instance = table.instanceAt(service?.instances[0]?.addresses[0] ?? "");
    for (let port = 0; instance !== undefined && port < GROWN_FLOWS; port += 1) {
      flows.add(planOf(port), instance, this.#peer, nowMs);
    }
    flows.expire(Number.POSITIVE_INFINITY, GROWN_FLOWS);
    for (const { key } of table.services()) table.delete(key);
    this.path.close();
    book.remove(this.#peer.node);
  }

  /** Sends by another mode from now on: `secure`, `fast` with a session, or `fast` without a key. */
  changeMode(turn: number): void {
    const session = this.#sessions[turn % (this.#sessions.length + 1)];
    // The key is a name here: nobody is asked to prove anything.
    const publicKey = session && this.#spec.node;
    this.path.book.set({
      ...this.#spec,
      publicKey,
      modes: session ? ["secure", "fast"] : ["fast"],
    });
    this.#peer.session = session;
  }
}

/** A flow that nothing belongs to. */
function planOf(port: number): FlowPlan {
  const words = { isV6: false, w0: 0, w1: 0, w2: 0, w3: port };
  const ends = { source: words, destination: words, ports: port };
  const other = { ...ends, ports: ~port };
  return { protocol: 0, asked: ends, sent: ends, answered: other, returned: other };
}

/** Both ends have the same key, of zeros: what is sealed never leaves this machine. */
function createSession(mode: SessionMode, { aead, other, nowMs }: RehearsalNodeOptions): Session {
  const index = mode === "secure" ? 1 : 2;
  const key = new Uint8Array(KEY_BYTES);
  return new Session({
    node: other.node,
    mode,
    isInitiator: true,
    createdMs: nowMs,
    localIndex: index,
    remoteIndex: index,
    sealing: new AeadKey(aead, key, "seal"),
    opening: new AeadKey(aead, key, "open"),
  });
}
