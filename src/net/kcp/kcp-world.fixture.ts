import { expect } from "vitest";
import { ipAddress, type SocketAddress } from "../../platform/socket-address.ts";
import type { ServerFd, StreamFd } from "../fd.ts";
import { MemoryHosts } from "../memory/memory-host.ts";
import { MemoryProvider } from "../memory/memory-provider.ts";
import { type LinkConditions, SimulatedNetwork } from "../memory/simulated-network.ts";
import { SelectorEventLoop } from "../selector-event-loop.ts";
import { KCP_DEFAULTS, type KcpOptions } from "./kcp-options.ts";
import { KcpProvider } from "./kcp-provider.ts";

export const SERVER: SocketAddress = ipAddress("10.0.0.2", 4000);
const LIMIT_MS = 600_000;

/** What became of a stream: a result of 1 says that it goes on. */
interface SaidCall {
  heard: string;
  result: number;
  readonly fd: StreamFd;
}

/** Ends of tunnels on hosts of a bad network; the server echoes what it hears. */
export class World {
  readonly network: SimulatedNetwork;
  readonly hosts: MemoryHosts;
  readonly #region = { bytes: new Uint8Array(65_536), address: 0 };

  constructor(conditions: Partial<LinkConditions>) {
    this.network = new SimulatedNetwork({ seed: 5, conditions });
    this.hosts = new MemoryHosts(this.network);
    this.hosts.add("a", ["10.0.0.1"]);
    this.hosts.add("b", ["10.0.0.2"]);
  }

  end(
    ip: string,
    secret: number,
    others: Partial<KcpOptions> = {},
  ): { provider: KcpProvider; loop: SelectorEventLoop } {
    const host = this.hosts.find(ipAddress(ip, 1));
    if (host === undefined) throw new Error(`no host ${ip}`);
    const options = { ...KCP_DEFAULTS, key: Buffer.alloc(32, secret), ...others };
    const provider = new KcpProvider(new MemoryProvider(host), options);
    const onError = (error: unknown): void => {
      throw error;
    };
    const loop = new SelectorEventLoop({ provider, onError });
    loop.start();
    return { provider, loop };
  }

  /** @returns what listens */
  echo({ provider, loop }: ReturnType<World["end"]>): ServerFd {
    const server = provider.listen(SERVER, { backlog: 4096 });
    loop.add(server, {
      onReady: () => {
        for (let fd = server.accept(); fd !== undefined; fd = server.accept()) {
          this.#echoOn(loop, fd);
        }
      },
      onRemoved: () => server.close(),
    });
    return server;
  }

  /** A stream that says something and hears all until the end. */
  say(
    { provider, loop }: ReturnType<World["end"]>,
    text: string,
    to: SocketAddress = SERVER,
  ): SaidCall {
    const fd = provider.connect(to);
    const call: SaidCall = { heard: "", result: 1, fd };
    const bytes = Buffer.from(text);
    const region = { bytes: new Uint8Array(bytes), address: 0 };
    let sent = 0;
    const id = loop.add(fd, {
      onReady: () => {
        while (fd.finishOpen() === 0 && fd.writable && sent < bytes.length) {
          sent += Math.max(0, fd.write(region, sent, bytes.length - sent));
          if (sent === bytes.length) fd.shutdownWrite();
        }
        while (fd.readable) {
          const count = fd.read(this.#region, 0, this.#region.bytes.length);
          if (count > 0)
            call.heard += Buffer.from(this.#region.bytes.subarray(0, count)).toString();
          else {
            call.result = count;
            fd.close();
            loop.remove(id);
          }
        }
      },
      onRemoved: () => fd.close(),
    });
    return call;
  }

  until(isDone: () => boolean): void {
    expect(this.network.clock.runUntil(isDone, LIMIT_MS)).toBe(true);
  }

  #echoOn(loop: SelectorEventLoop, fd: StreamFd): void {
    const id = loop.add(fd, {
      onReady: () => {
        while (fd.readable && fd.writable) {
          const count = fd.read(this.#region, 0, 4096);
          if (count > 0) fd.write(this.#region, 0, count);
          else if (count === 0) {
            fd.close();
            loop.remove(id);
            return;
          }
        }
      },
      onRemoved: () => fd.close(),
    });
  }
}
