import type { AeadCalls } from "../../platform/linux/openssl/aead-calls.ts";
import { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
import type { IpSocketAddress } from "../../platform/socket-address.ts";
import { FlowTable } from "../flows/flow-table.ts";
import { LOCAL, PacketRouter, type Target } from "../flows/packet-router.ts";
import { PrefixMap } from "../flows/prefix-map.ts";
import { type EdgeService, ServiceTable } from "../table/service-table.ts";
import { Incoming } from "./incoming.ts";
import { Outgoing } from "./outgoing.ts";
import { PacketSink } from "./packet-sink.ts";
import type { Peer } from "./peer.ts";
import { PeerBook } from "./peer-book.ts";
import { Session, type SessionMode } from "./session.ts";
import { TunIntake } from "./tun-intake.ts";
import { TunWriter } from "./tun-writer.ts";

const MTU = 1400;
const MAX_FLOWS = 64;
const KEY_BYTES = 32;

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
  readonly aead: AeadCalls;
  readonly nowMs: number;
}

/** All that packets pass in a tunnel, between two descriptors, with one peer. */
export class RehearsalNode {
  readonly intake: TunIntake;
  readonly incoming: Incoming;
  readonly #book: PeerBook;
  readonly #peer: Peer;
  readonly #sessions: readonly Session[];

  constructor(options: RehearsalNodeOptions) {
    const { node, other, udp } = options;
    this.#book = new PeerBook(options.subnets);
    // The key is a name here: nobody is asked to prove anything.
    const spec = { ...other, publicKey: other.node, modes: ["secure", "fast"] as const };
    this.#peer = this.#book.set(spec).peer;
    this.#sessions = (["secure", "fast"] as const).map((mode) => createSession(mode, options));
    for (const session of this.#sessions) this.#book.addSession(session);
    const table = new ServiceTable();
    table.set(options.service);
    const router = new PacketRouter<Peer>({
      table,
      flows: new FlowTable<Target<Peer>>({ maxFlows: MAX_FLOWS }),
      routes: this.#book.routes,
      serviceRanges: new PrefixMap<true>(),
      observed: { roundTripMs: () => 0 },
      hairpin: { v4: undefined, v6: undefined },
      peerOf: (name) => (name === node ? LOCAL : this.#peer),
    });
    const nothing = (): void => undefined;
    const outgoing = new Outgoing(udp, nothing);
    const writer = new TunWriter(options.tun);
    this.intake = new TunIntake({
      descriptor: options.tun,
      router,
      outgoing,
      writer,
      mtu: MTU,
      onUnknown: nothing,
      onUnready: nothing,
    });
    const sink = new PacketSink(router, writer, MTU);
    sink.takesUdpRuns = true;
    this.incoming = new Incoming({
      descriptor: udp,
      book: this.#book,
      sink,
      events: {
        onHandshake: nothing,
        onControl: nothing,
        onConfirmed: nothing,
        onMoved: nothing,
        onDoubtful: nothing,
      },
    });
  }

  /** Sends by the other mode from now on. */
  changeMode(turn: number): void {
    this.#peer.session = this.#sessions[turn % this.#sessions.length];
  }

  close(): void {
    for (const session of this.#sessions) this.#book.dropSession(session);
  }
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
