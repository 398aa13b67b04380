import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { Cancellable, ChannelId } from "../../net/selector-event-loop.ts";
import { AF_UNIX, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK } from "../../platform/linux/abi.ts";
import { close, read, write } from "../../platform/linux/io-calls.ts";
import { allocateNative } from "../../platform/linux/native-memory.ts";
import type { AeadCalls } from "../../platform/linux/openssl/aead-calls.ts";
import { socketpair } from "../../platform/linux/socket-calls.ts";
import { localAddressOf } from "../../platform/linux/socket-names.ts";
import { checked } from "../../platform/linux/system-error.ts";
import { type IpSocketAddress, ipAddress } from "../../platform/socket-address.ts";
import { openTunnelSocket } from "./open-tunnel-socket.ts";
import { RehearsalNode } from "./rehearsal-node.ts";
import { type RehearsalExchange, rehearsalExchanges } from "./rehearsal-packets.ts";

/** As many as the engine needs to see before it compiles all that a packet passes. */
const EXCHANGES = 4000;
/** Where nothing comes back, or the machine has no time for it, it is given up: packets wait. */
const LIMIT_MS = 1500;
const TICK_MS = 3;
const BUFFER_BYTES = 2048;
const COPIES = 4;

const LEFT = { node: "left", subnets: ["10.0.0.0/24", "fc00::/120"] } as const;
const RIGHT = { node: "right", subnets: ["10.0.1.0/24", "fc00::100/120"] } as const;
const V4 = { client: "10.0.0.1", service: "10.0.2.1", server: "10.0.1.1" } as const;
const V6 = { client: "fc00::1", service: "fc00::201", server: "fc00::101" } as const;
const SERVICE = {
  key: "rehearsal",
  names: [],
  addresses: [V4, V6].map(({ service }) => ({
    address: service,
    policy: "round-robin" as const,
    instance: -1,
  })),
  instances: [{ number: 0, node: RIGHT.node, addresses: [V4.server, V6.server], weight: 1 }],
};

export interface RehearsalOptions {
  /** The calls that real packets use, too: code is compiled for just these. */
  readonly aead: AeadCalls;
  readonly count?: number | undefined;
  /** How many came back; it is closed by then. */
  readonly onDone: (exchanges: number) => void;
}

/** The two ends of what stands for a TUN, and the socket of a node. */
interface Descriptors {
  readonly tun: number;
  readonly kernel: number;
  readonly udp: number;
  readonly address: IpSocketAddress;
}

/**
 * Sends packets of all kinds from one node to another and back, one at a time, both on this loop and over
 * loopback, until the engine has compiled what packets pass. Without it the first thousands of real ones
 * find that in the interpreter, which takes three times as long; a node that is asked for something now
 * and then would stay there. What the loop does otherwise goes on in between.
 */
export class Rehearsal {
  readonly #net: NetEventLoop;
  readonly #memory = allocateNative(BUFFER_BYTES);
  readonly #left: Descriptors;
  readonly #right: Descriptors;
  readonly #nodes: readonly RehearsalNode[];
  readonly #channels: readonly ChannelId[];
  readonly #timers: readonly Cancellable[];
  readonly #onDone: (exchanges: number) => void;
  readonly #count: number;
  /** What is to be asked yet in this turn, the last one first. */
  #exchanges: RehearsalExchange[] = [];
  #turn = 0;
  #done = 0;
  #isClosed = false;

  constructor(net: NetEventLoop, options: RehearsalOptions) {
    const { aead } = options;
    this.#net = net;
    this.#onDone = options.onDone;
    this.#count = options.count ?? EXCHANGES;
    this.#left = openDescriptors();
    this.#right = openDescriptors();
    const common = { service: SERVICE, aead, nowMs: net.loop.nowMs };
    const endpointOf = ({ address }: Descriptors) => ({ endpoint: address });
    const makeLeft = (): RehearsalNode =>
      new RehearsalNode({
        ...common,
        ...LEFT,
        ...this.#left,
        ignore: () => undefined,
        other: { ...RIGHT, ...endpointOf(this.#right) },
      });
    const right = new RehearsalNode({
      ...common,
      ...RIGHT,
      ...this.#right,
      ignore: () => undefined,
      other: { ...LEFT, ...endpointOf(this.#left) },
    });
    makeLeft().shake(net.loop.nowMs);
    const left = makeLeft();
    this.#nodes = [left, right];
    const lost = (): void => this.close();
    this.#channels = [
      ...left.path.serve(net, lost),
      ...right.path.serve(net, lost),
      // What the kernel would do.
      this.#watch(this.#right.kernel, () => this.#answer()),
      this.#watch(this.#left.kernel, () => this.#next()),
    ];
    this.#timers = [
      net.loop.delay(LIMIT_MS, () => this.close()),
      // Timers are of the loop, too.
      net.loop.period(1, () => undefined),
      net.loop.period(TICK_MS, () => undefined),
    ];
    this.#ask();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    for (const channel of this.#channels) this.#net.loop.remove(channel);
    for (const { path } of this.#nodes) path.close();
    for (const { tun, kernel, udp } of [this.#left, this.#right]) {
      for (const descriptor of [tun, kernel, udp]) close(descriptor);
    }
    this.#onDone(this.#done);
  }

  #watch(descriptor: number, onReady: () => void): ChannelId {
    const { loop, provider } = this.#net;
    const { adopt } = provider;
    if (adopt === undefined) throw new Error("this loop has no descriptors");
    return loop.add(adopt.readable({ descriptor }), { onReady, onRemoved: () => this.close() });
  }

  #ask(): void {
    if (this.#exchanges.length === 0) {
      this.#turn += 1;
      this.#exchanges = [V4, V6].flatMap((ends) => rehearsalExchanges(ends, this.#turn)).reverse();
      for (const node of this.#nodes) node.changeMode(this.#turn);
    }
    this.#writeSome(this.#left.kernel, this.#exchanges.at(-1)?.question);
  }

  #answer(): void {
    if (!this.#take(this.#right.kernel)) return;
    this.#writeSome(this.#right.kernel, this.#exchanges.at(-1)?.answer);
  }

  #next(): void {
    if (!this.#take(this.#left.kernel)) return;
    this.#exchanges.pop();
    this.#done += 1;
    if (this.#done < this.#count) this.#ask();
    else this.close();
  }

  /** Whether something came; the pieces of a super-packet may come one by one. */
  #take(descriptor: number): boolean {
    let count = 0;
    while (read(descriptor, this.#memory.address, BUFFER_BYTES) > 0) count += 1;
    return count > 0;
  }

  /** One packet, and in each third turn some at once, as under load. */
  #writeSome(descriptor: number, packet: Uint8Array | undefined): void {
    if (packet === undefined) return;
    this.#memory.bytes.set(packet);
    const copies = this.#turn % 3 === 0 ? COPIES : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      write(descriptor, this.#memory.address, packet.length);
    }
  }
}

function openDescriptors(): Descriptors {
  const udp = openTunnelSocket(ipAddress("127.0.0.1", 0));
  const address = localAddressOf(udp);
  if (address.family === "unix") throw new Error("a socket of UDP has no name of its own");
  const ends = allocateNative(8);
  const type = SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  checked("socketpair", socketpair(AF_UNIX, type, ends.address));
  const [tun, kernel] = [ends.view.getInt32(0, true), ends.view.getInt32(4, true)];
  return { tun, kernel, udp, address };
}
