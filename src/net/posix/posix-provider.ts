import { EPOLLIN } from "../../platform/linux/abi.ts";
import { Epoll } from "../../platform/linux/epoll.ts";
import { allocateNative } from "../../platform/linux/native-memory.ts";
import { yieldProcessor } from "../../platform/linux/process-calls.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type {
  Adopter,
  Clock,
  DatagramFd,
  DatagramOptions,
  HandOff,
  ListenOptions,
  PipePool,
  Provider,
  Selector,
  ServerFd,
  StreamFd,
  StreamOptions,
} from "../fd.ts";
import type { Region } from "../region.ts";
import { DescriptorLedger } from "./descriptor-ledger.ts";
import { type OpenedSocket, openConnecting, openDatagram, openListening } from "./open-socket.ts";
import { DatagramMemory, PosixDatagram } from "./posix-datagram.ts";
import type { PosixHost } from "./posix-host.ts";
import { PosixPipes } from "./posix-pipes.ts";
import { PosixSelector } from "./posix-selector.ts";
import { PosixServer } from "./posix-server.ts";
import { PosixStream } from "./posix-stream.ts";
import { WatchedFd } from "./watched-fd.ts";

export interface PosixOptions {
  /** How many events one wait takes. */
  readonly maxEvents?: number;
  readonly pipeBytes?: number;
  /** Whether it sleeps between any two events; see `PosixSelector`. */
  readonly alwaysSleeps?: boolean;
  /** Called each time that it stays awake for the next event. */
  readonly onLook?: () => void;
  /** Where the descriptors are noted; see `DescriptorLedger`. */
  readonly ledgerMemory: SharedArrayBuffer;
}

const DEFAULT_MAX_EVENTS = 1024;
const DEFAULT_PIPE_BYTES = 262_144;
const MAX_FREE_PIPES = 32;

/** Linux sockets through system calls. It serves one loop, on a thread of its own. */
export class PosixProvider implements Provider, PosixHost {
  readonly name = "posix";
  readonly epoll: Epoll;
  readonly ledger: DescriptorLedger;
  readonly selector: Selector;
  readonly pipes: PipePool;
  readonly clock: Clock = {
    nowMs: () => performance.now(),
    callAt: () => ({ cancel: () => undefined }),
  };
  readonly adopt: Adopter = {
    stream: (handOff) => new PosixStream(this, handOff.descriptor, {}),
    server: (handOff) => this.#server(handOff, true),
    datagram: ({ descriptor }) => this.#datagram({ descriptor, result: 0 }, true),
    readable: ({ descriptor }) => new WatchedFd(this, descriptor, EPOLLIN),
  };
  #datagrams: DatagramMemory | undefined;

  constructor(options: PosixOptions) {
    this.ledger = new DescriptorLedger(options.ledgerMemory);
    this.epoll = new Epoll(options.maxEvents ?? DEFAULT_MAX_EVENTS);
    this.ledger.note(this.epoll.descriptor);
    this.selector = new PosixSelector(this.epoll, {
      alwaysSleeps: options.alwaysSleeps,
      onLook: options.onLook,
      nowMs: this.clock.nowMs,
      yieldProcessor,
    });
    this.pipes = new PosixPipes(this.ledger, {
      capacityBytes: options.pipeBytes ?? DEFAULT_PIPE_BYTES,
      maxFree: MAX_FREE_PIPES,
    });
  }

  allocate(byteCount: number): Region {
    return allocateNative(byteCount);
  }

  connect(to: SocketAddress, options?: StreamOptions): StreamFd {
    const { descriptor, result: openResult } = openConnecting(to, options);
    const isTcp = to.family !== "unix";
    return new PosixStream(this, descriptor, { openResult, isTcp, lacksNoDelay: isTcp });
  }

  listen(on: SocketAddress, options: ListenOptions): ServerFd {
    const { descriptor, result } = openListening(on, { ...options, shared: false });
    return this.#server({ descriptor }, false, result);
  }

  bindDatagram(on: SocketAddress, options?: DatagramOptions): DatagramFd {
    return this.#datagram(openDatagram(on, options), false);
  }

  close(): void {
    this.pipes.close();
    this.ledger.close(this.epoll.descriptor);
  }

  #datagram(socket: OpenedSocket, isBorrowed: boolean): DatagramFd {
    this.#datagrams ??= new DatagramMemory();
    return new PosixDatagram(this, this.#datagrams, { ...socket, isBorrowed });
  }

  #server({ descriptor }: HandOff, isBorrowed: boolean, openResult = 0): ServerFd {
    return new PosixServer(this, { descriptor, openResult, isBorrowed });
  }
}
