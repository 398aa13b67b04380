import type { HealthCheck } from "../../core/model/group.ts";
import { NO_HINTS } from "../../core/model/route-hints.ts";
import type { StreamFd } from "../../net/fd.ts";
import { type MemoryHost, MemoryHosts } from "../../net/memory/memory-host.ts";
import { MemoryProvider } from "../../net/memory/memory-provider.ts";
import { SimulatedNetwork } from "../../net/memory/simulated-network.ts";
import { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ReadyHandler } from "../../net/selector-event-loop.ts";
import type { LoopProgram } from "../../net/threads/loop-program.ts";
import { errnoName } from "../../platform/errno.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { buildState } from "../engine/build-state.ts";
import { EMPTY_STATE, planChanges } from "../engine/engine-state.ts";
import { RowBook } from "../engine/row-book.ts";
import { type EngineConfig, type ListenerConfig, PLAIN_LISTENER } from "../engine-config.ts";
import { CounterBlocks } from "../stats/counter-blocks.ts";
import type { EngineCommand, EngineReport } from "./engine-messages.ts";
import { createProxyProgram } from "./proxy-program.ts";
import { socketsOf } from "./socket-id.ts";

export const PROXY_IP = "10.0.0.1";
const CLIENT_IP = "10.0.2.1";
const PORT = 80;
const READ_BYTES = 65_536;

export const UNCHECKED: HealthCheck = {
  protocol: "none",
  timeoutMs: 1000,
  intervalMs: 5000,
  up: 2,
  down: 3,
  http: { method: "GET", path: "/", host: "", status: ["2xx"] },
  dnsName: "",
};

/** One end of a connection in the simulated network, with all that it was told. */
export class SimulatedEnd implements ReadyHandler {
  readonly fd: StreamFd;
  readonly #net: NetEventLoop;
  readonly #isReading: boolean;
  text = "";
  receivedBytes = 0;
  /** Is shown what comes, as bytes. */
  onBytes: (bytes: Buffer) => void = () => undefined;
  /** `FIN`, or the name of an error; empty while it is open. */
  ended = "";

  constructor(net: NetEventLoop, fd: StreamFd, isReading = true) {
    this.#net = net;
    this.fd = fd;
    this.#isReading = isReading;
    net.loop.add(fd, this);
  }

  write(text: string | Uint8Array): number {
    const bytes = Buffer.from(text);
    const region = this.#net.provider.allocate(bytes.length);
    region.bytes.set(bytes);
    return this.fd.write(region, 0, bytes.length);
  }

  onReady(): void {
    while (this.#isReading && this.ended === "" && this.fd.readable) {
      const { scratch } = this.#net;
      const count = this.fd.read(scratch, 0, READ_BYTES);
      if (count > 0) {
        this.receivedBytes += count;
        const bytes = Buffer.from(scratch.bytes.subarray(0, count));
        this.text += bytes.toString();
        this.onBytes(bytes);
      } else {
        const name = count === 0 ? "FIN" : errnoName(count);
        if (name === "EAGAIN") return;
        this.ended = name;
      }
    }
  }

  onRemoved(): void {
    this.fd.close();
  }
}

/** The proxy's program on a simulated network, with servers and clients; time is virtual. */
export class SimulatedProxy {
  readonly network: SimulatedNetwork;
  readonly reports: EngineReport[] = [];
  readonly program: LoopProgram;
  readonly net: NetEventLoop;
  readonly errors: unknown[] = [];
  readonly blocks: CounterBlocks = new CounterBlocks(1);
  readonly #rows = new RowBook(this.blocks);
  readonly #hosts: MemoryHosts;
  readonly #clients: NetEventLoop;
  #state = EMPTY_STATE;

  constructor(seed = 1) {
    this.network = new SimulatedNetwork({ seed });
    this.#hosts = new MemoryHosts(this.network);
    this.net = this.#loop(this.#hosts.add("proxy", [PROXY_IP]));
    this.#clients = this.#loop(this.#hosts.add("client", [CLIENT_IP]));
    const ignore = (): void => undefined;
    this.program = createProxyProgram({
      name: "worker",
      net: this.net,
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      data: { index: 0 },
      // The program sends only what EngineReport names.
      report: (body) => this.reports.push(body as EngineReport),
      sendToPeer: () => false,
      handTo: () => false,
    });
    this.send({ kind: "checks", isOn: true });
  }

  /** A further host, with a loop of its own. */
  host(name: string, ip: string): NetEventLoop {
    return this.#loop(this.#hosts.add(name, [ip]));
  }

  /** A server on a host of its own, of the same name; whoever connects to it is given over. */
  serve(name: string, ip: string, onConnection: (end: SimulatedEnd) => void): void {
    const net = this.host(name, ip);
    net.accept(net.provider.listen(ipAddress(ip, PORT), { backlog: 128 }), {
      onConnection: (fd) => onConnection(new SimulatedEnd(net, fd)),
    });
  }

  /** Makes it so, and opens the listeners that are new. */
  apply(config: EngineConfig): void {
    const before = this.#state;
    this.#state = buildState(config, {
      rowOf: (owner) => this.#rows.rowOf(owner),
      addressesOf: (host) => [host],
      workersOf: () => [],
    });
    for (const block of this.blocks.blocks) this.send({ kind: "block", block });
    const { puts, removals } = planChanges(before, this.#state, () => []);
    this.send({ kind: "change", request: 1, changes: [...puts, ...removals] });
    for (const listener of config.listeners) {
      if (!before.listeners.has(listener.key)) this.#open(listener);
    }
    this.run(0);
  }

  send(command: EngineCommand): void {
    this.net.loop.runOnLoop(() => this.program.onMessage(command));
  }

  dial(isReading = true): SimulatedEnd {
    const fd = this.#clients.provider.connect(ipAddress(PROXY_IP, PORT));
    return new SimulatedEnd(this.#clients, fd, isReading);
  }

  /** Lets so much time pass. */
  run(ms: number): void {
    this.network.clock.advance(ms);
  }

  #open(listener: ListenerConfig): void {
    const { provider } = this.net;
    for (const { id, transport } of socketsOf(listener)) {
      if (transport === "datagram") {
        this.program.datagrams?.(id, provider.bindDatagram(listener.address));
      } else {
        const fd = provider.listen(listener.address, { backlog: 128 });
        this.net.accept(fd, this.program.listener(id));
      }
    }
  }

  #loop(host: MemoryHost): NetEventLoop {
    const net = new NetEventLoop({
      provider: new MemoryProvider(host),
      onError: (error) => this.errors.push(error),
    });
    net.loop.start();
    return net;
  }
}

export function simulatedConfig(
  ips: readonly string[],
  changes: {
    readonly listener?: Partial<ListenerConfig>;
    readonly healthCheck?: HealthCheck;
  } = {},
): EngineConfig {
  return {
    listeners: [
      {
        key: "web",
        address: ipAddress(PROXY_IP, PORT),
        mode: "tcp",
        upstream: "web",
        proxyProtocol: { send: "none", acceptFrom: [] },
        access: undefined,
        idleTimeoutMs: 60_000,
        connectTimeoutMs: 2000,
        inBufferBytes: 16_384,
        outBufferBytes: 16_384,
        allowOthers: false,
        ...PLAIN_LISTENER,
        ...changes.listener,
      },
    ],
    upstreams: [
      { key: "web", groups: [{ group: "web", weight: 1, hints: NO_HINTS }], affinitySeconds: 0 },
    ],
    groups: [
      {
        key: "web",
        method: "round-robin",
        healthCheck: changes.healthCheck ?? UNCHECKED,
        slowStartMs: 0,
        servers: ips.map((ip) => ({ key: ip, host: ip, port: PORT, weight: 1 })),
      },
    ],
    certificates: [],
  };
}
