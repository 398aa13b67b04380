import { seededRandom } from "../../net/memory/random.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { EMPTY_ENGINE_CONFIG } from "../engine-config.ts";
import { PROXY_IP, SimulatedProxy } from "../loop/simulated-proxy.fixture.ts";
import { HTTP_FORM, socks5Form, TCP_FORM } from "./call-forms.fixture.ts";
import { hourConfig, LISTENER_PORTS } from "./hour-config.fixture.ts";
import { SimulatedAsker } from "./simulated-asker.fixture.ts";
import { type CallForm, type CallPlan, SimulatedCall } from "./simulated-call.fixture.ts";
import { SERVER_PORTS, SimulatedServer } from "./simulated-servers.fixture.ts";

export interface HourReport {
  readonly calls: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  readonly datagrams: { readonly asked: number; readonly answered: number };
  /** Bytes that were lost, doubled or mixed up. */
  readonly wrong: readonly string[];
  /** What was still open when everything should have ended. */
  readonly leaks: readonly string[];
  /** What callbacks of the proxy threw. */
  readonly errors: readonly unknown[];
  /** Failures of calls made when all was well again. */
  readonly lateFailures: readonly string[];
}

const SERVERS = 4;
const CLIENT_HOSTS = 3;
const CALL_EVERY_MS = 400;
const TROUBLE_EVERY_MS = 8000;
const MAX_BYTES = 150_000;
const SLOW_READ_BYTES = 4000;
const MAX_TROUBLE_MS = 60_000;
/** Longer than every time-out: whatever still is open then stays so for ever. */
const SETTLE_MS = 600_000;
const LATE_CALLS = 20;
/** More than there are listeners, groups and servers. */
const MAX_ROWS = 256;

/** So much time with clients of all kinds, and with everything going wrong that can; all from one seed. */
class SimulatedHour {
  readonly #random: () => number;
  readonly #proxy: SimulatedProxy;
  readonly #servers: readonly SimulatedServer[];
  readonly #clients: readonly { readonly ip: string; readonly net: NetEventLoop }[];
  readonly #running = new Set<SimulatedCall>();
  #configured: readonly string[] = [];
  #askers = 0;
  #nextId = 1;
  readonly #calls: Record<string, number> = {};
  readonly #failures: Record<string, number> = {};
  readonly #datagrams = { asked: 0, answered: 0 };
  readonly #wrong: string[] = [];
  #failed: string[] = [];

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#proxy = new SimulatedProxy(seed);
    this.#servers = Array.from({ length: SERVERS }, (_, index) => {
      const [name, ip] = [`server-${index}`, `10.0.1.${index + 1}`];
      return new SimulatedServer(name, ip, this.#proxy.host(name, ip));
    });
    this.#clients = Array.from({ length: CLIENT_HOSTS }, (_, index) => {
      const ip = `10.0.3.${index + 1}`;
      return { ip, net: this.#proxy.host(`client-${index}`, ip) };
    });
  }

  run(durationMs: number): HourReport {
    const proxy = this.#proxy;
    this.#configure(SERVERS);
    proxy.run(1000);
    const open = proxy.net.loop.size;
    let troubleAtMs = TROUBLE_EVERY_MS;
    for (let nowMs = 0; nowMs < durationMs; nowMs += CALL_EVERY_MS) {
      this.#call();
      if (nowMs >= troubleAtMs) {
        troubleAtMs += this.#random() * 2 * TROUBLE_EVERY_MS;
        this.#trouble();
      }
      proxy.run(CALL_EVERY_MS);
    }
    this.#makeWell();
    const lateFailures = this.#callLate();
    proxy.apply({ ...EMPTY_ENGINE_CONFIG, listeners: hourConfig([], this.#random).listeners });
    proxy.run(SETTLE_MS);
    return {
      calls: this.#calls,
      failures: this.#failures,
      datagrams: this.#datagrams,
      wrong: this.#wrong,
      leaks: this.#leaks(open),
      errors: proxy.errors,
      lateFailures,
    };
  }

  #chance(): number {
    return this.#random();
  }

  #oneOf<T>(values: readonly T[]): T {
    const value = values[Math.floor(this.#chance() * values.length)];
    if (value === undefined) throw new RangeError("nothing to choose from");
    return value;
  }

  #configure(servers: number): void {
    this.#configured = this.#servers.slice(0, servers).map(({ ip }) => ip);
    this.#proxy.apply(hourConfig(this.#configured, this.#random));
  }

  #call(): void {
    const client = this.#oneOf(this.#clients);
    const id = this.#nextId;
    this.#nextId += 1;
    const kind = this.#oneOf(["tcp", "http", "socks5", "udp"] as const);
    if (kind === "udp") {
      this.#ask(client, id);
      return;
    }
    const form: CallForm =
      kind === "tcp"
        ? TCP_FORM
        : kind === "http"
          ? HTTP_FORM
          : socks5Form(this.#oneOf(this.#configured), SERVER_PORTS.tcp);
    this.#start(client.net, {
      id,
      form,
      byteCount: 1 + Math.floor(this.#chance() ** 3 * MAX_BYTES),
      readBytes: this.#chance() < 0.1 ? SLOW_READ_BYTES : 0,
    });
  }

  #start(net: NetEventLoop, plan: CallPlan): void {
    const to = ipAddress(PROXY_IP, LISTENER_PORTS[plan.form.kind]);
    const call: SimulatedCall = new SimulatedCall(net, to, plan, ({ failure, wrong }) => {
      this.#running.delete(call);
      count(failure === "" ? this.#calls : this.#failures, `${plan.form.kind} ${failure}`.trim());
      if (failure !== "") this.#failed.push(`${plan.form.kind}: ${failure}`);
      if (wrong !== "") this.#wrong.push(wrong);
    });
    this.#running.add(call);
  }

  #ask({ ip, net }: { readonly ip: string; readonly net: NetEventLoop }, id: number): void {
    this.#askers += 1;
    const to = ipAddress(PROXY_IP, LISTENER_PORTS.udp);
    new SimulatedAsker(net, { ip, to, id }, 8, ({ asked, answered, wrong }) => {
      this.#askers -= 1;
      this.#datagrams.asked += asked;
      this.#datagrams.answered += answered;
      if (wrong !== "") this.#wrong.push(wrong);
    });
  }

  /** Something goes wrong, and is mended after a while. */
  #trouble(): void {
    const { network } = this.#proxy;
    const server = this.#oneOf(this.#servers);
    const host = `client-${Math.floor(this.#chance() * CLIENT_HOSTS)}`;
    const later = (mend: () => void): void => {
      network.clock.callAt(network.clock.nowMs() + this.#chance() * MAX_TROUBLE_MS, mend);
    };
    switch (this.#oneOf(["cut", "far", "pull", "weather", "change", "leave"] as const)) {
      case "cut":
        network.partition("proxy", server.name);
        later(() => network.heal("proxy", server.name));
        return;
      case "far":
        network.partition("proxy", host);
        later(() => network.heal("proxy", host));
        return;
      case "pull":
        server.stop();
        later(() => server.start());
        return;
      case "weather": {
        const [lossRate, latencyMs, jitterMs] = [this.#chance() / 20, 20, this.#chance() * 30];
        network.change({ lossRate, latencyMs: this.#chance() * latencyMs, jitterMs });
        return;
      }
      case "change":
        this.#configure(1 + Math.floor(this.#chance() * SERVERS));
        return;
      case "leave":
        for (const call of [...this.#running].slice(0, 3)) call.reset();
        return;
    }
  }

  #makeWell(): void {
    const { network } = this.#proxy;
    this.#proxy.run(MAX_TROUBLE_MS);
    network.change({ lossRate: 0, latencyMs: 1, jitterMs: 0 });
    this.#configure(SERVERS);
    this.#proxy.run(SETTLE_MS);
  }

  /** When all is well, nothing fails. */
  #callLate(): readonly string[] {
    this.#failed = [];
    for (let index = 0; index < LATE_CALLS; index += 1) this.#call();
    this.#proxy.run(MAX_TROUBLE_MS);
    return this.#failed;
  }

  #leaks(listening: number): readonly string[] {
    const { program, net, blocks } = this.#proxy;
    const rows = Array.from({ length: MAX_ROWS }, (_, row) => row);
    const counted: readonly (readonly [string, number])[] = [
      ["calls", this.#running.size],
      ["askers", this.#askers],
      ["sessions of the proxy", program.openCount],
      ["FDs of the proxy", net.loop.size - listening],
      ["FDs of clients", this.#clients.reduce((sum, { net: { loop } }) => sum + loop.size, 0)],
      ["connections of servers", this.#servers.reduce((sum, one) => sum + one.openCount, 0)],
      ["counted as open", rows.reduce((sum, row) => sum + blocks.counts(row).connections, 0)],
    ];
    return counted.flatMap(([what, left]) => (left === 0 ? [] : [`${what}: ${left}`]));
  }
}

/** Balancing by chance is the proxy's own; here it is the seed's, too. */
export function simulateHour(seed: number, durationMs: number): HourReport {
  const chance = Math.random;
  Math.random = seededRandom(seed + 1);
  try {
    return new SimulatedHour(seed).run(durationMs);
  } finally {
    Math.random = chance;
  }
}

function count(counts: Record<string, number>, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}
