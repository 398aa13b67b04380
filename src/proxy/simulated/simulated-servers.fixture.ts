import type { Acceptor } from "../../net/acceptor.ts";
import type { DatagramFd } from "../../net/fd.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelId, ReadyHandler } from "../../net/selector-event-loop.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { SimulatedEcho, SimulatedHttpEcho } from "./simulated-echo.fixture.ts";

export const SERVER_PORTS = { tcp: 80, http: 81, udp: 82 } as const;
const BACKLOG = 512;

/** A machine that echoes in TCP, HTTP and UDP; it can be pulled and put back. */
export class SimulatedServer {
  readonly name: string;
  readonly ip: string;
  readonly #net: NetEventLoop;
  readonly #open = new Set<SimulatedEcho>();
  #acceptors: Acceptor[] = [];
  #datagrams: DatagramEcho | undefined;

  constructor(name: string, ip: string, net: NetEventLoop) {
    this.name = name;
    this.ip = ip;
    this.#net = net;
    this.start();
  }

  get openCount(): number {
    return this.#open.size;
  }

  start(): void {
    if (this.#datagrams !== undefined) return;
    const at = (port: number) => ipAddress(this.ip, port);
    const accept = (port: number, Echo: typeof SimulatedEcho): Acceptor =>
      this.#net.accept(this.#net.provider.listen(at(port), { backlog: BACKLOG }), {
        onConnection: (fd) => {
          this.#open.add(new Echo(this.#net, fd, (echo) => this.#open.delete(echo)));
        },
      });
    this.#acceptors = [
      accept(SERVER_PORTS.tcp, SimulatedEcho),
      accept(SERVER_PORTS.http, SimulatedHttpEcho),
    ];
    const fd = this.#net.provider.bindDatagram(at(SERVER_PORTS.udp));
    this.#datagrams = new DatagramEcho(this.#net, fd);
  }

  /** All that it has open is reset, and it listens no more. */
  stop(): void {
    for (const acceptor of this.#acceptors) acceptor.close();
    this.#acceptors = [];
    this.#datagrams?.close();
    this.#datagrams = undefined;
    for (const echo of [...this.#open]) echo.close(true);
  }
}

class DatagramEcho implements ReadyHandler {
  readonly #net: NetEventLoop;
  readonly #fd: DatagramFd;
  readonly #id: ChannelId;

  constructor(net: NetEventLoop, fd: DatagramFd) {
    this.#net = net;
    this.#fd = fd;
    this.#id = net.loop.add(fd, this);
  }

  onReady(): void {
    while (this.#fd.readable) {
      const count = this.#fd.receive();
      for (let index = 0; index < count; index += 1) {
        this.#fd.forward(index, this.#fd.sender(index));
      }
      this.#fd.flush();
    }
  }

  onRemoved(): void {
    this.#fd.close();
  }

  close(): void {
    this.#fd.close();
    this.#net.loop.remove(this.#id);
  }
}
