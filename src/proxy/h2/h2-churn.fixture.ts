import { blockOf, type StreamNotes } from "../../wire/http2/plain-peer.fixture.ts";
import { CODE } from "../../wire/http2/protocol.ts";
import { SimulatedProxy, simulatedConfig } from "../loop/simulated-proxy.fixture.ts";
import { dialPeer, SimulatedPeer } from "./simulated-peer.fixture.ts";

const IPS = ["10.0.1.1", "10.0.1.2", "10.0.1.3"];
const OK = blockOf([[":status", "200"]]);
const MAX_BODY_BYTES = 100_000;
const MAX_CLIENTS = 5;

/** A request of a client, and what it sent. */
interface Asked {
  readonly notes: StreamNotes;
  readonly body: string;
}

/** What came of all requests. */
export interface ChurnOutcome {
  readonly answered: number;
  /** Answered with another body than was sent. */
  readonly mixedUp: number;
  /** Reset, or answered with an error: somebody was cut off, or gave up. */
  readonly failed: number;
  /** Neither, when all was over, although its client was there all the time. */
  readonly stuck: number;
  /** FDs in the loop (one is the listener's), sessions, and connections in the counters, that are left. */
  readonly left: readonly number[];
  readonly errors: readonly unknown[];
}

/** Clients, servers and the network do what they like for so many steps; servers send back what they get. */
export function churn(steps: number, random: () => number): ChurnOutcome {
  const proxy = new SimulatedProxy();
  const servers: SimulatedPeer[] = [];
  const clients: SimulatedPeer[] = [];
  const asked: Asked[] = [];
  for (const [index, ip] of IPS.entries()) {
    proxy.serve(`server-${index}`, ip, (end) => {
      const server = new SimulatedPeer("server", end);
      servers.push(server);
      server.flush();
    });
  }
  const listener = { mode: "h2", idleTimeoutMs: 5000, connectTimeoutMs: 500 } as const;
  proxy.apply(simulatedConfig(IPS, { listener }));
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <T>(items: readonly T[]): T | undefined => items[below(items.length)];

  const ask = (): void => {
    const client = pick(
      clients.filter(({ end, peer }) => end.ended === "" && peer.connection.capacity > 0),
    );
    if (client === undefined) return;
    const body = String(below(10)).repeat(below(MAX_BODY_BYTES));
    const notes = client.request(false);
    notes.send(body, true);
    client.flush();
    asked.push({ notes, body });
  };
  const actions: readonly (() => void)[] = [
    ask,
    ask,
    ask,
    ask,
    () => {
      if (clients.length < MAX_CLIENTS || random() < 0.1) clients.push(dialPeer(proxy));
    },
    () => pick(asked)?.notes.stream.reset(CODE.CANCEL),
    () => pick(pick(servers)?.peer.opened ?? [])?.stream.reset(CODE.REFUSED_STREAM),
    () => {
      if (random() < 0.1) pick(servers)?.end.fd.reset();
    },
    () => {
      if (random() < 0.1) pick(servers)?.peer.connection.leave();
    },
    () => {
      const client = random() < 0.05 ? pick(clients) : undefined;
      client?.end.fd.reset();
      client?.peer.connection.lost();
    },
    () => {
      if (random() < 0.1) proxy.network.partition("proxy", `server-${below(IPS.length)}`);
    },
    () => proxy.network.heal("proxy", `server-${below(IPS.length)}`),
  ];
  const settleAll = (ms: number): void => {
    proxy.run(ms);
    for (const server of servers) answer(server);
    for (const peer of [...clients, ...servers]) if (!peer.end.fd.isClosed) peer.flush();
  };

  for (let step = 0; step < steps; step += 1) {
    pick(actions)?.();
    settleAll(1 + below(20));
  }
  for (const index of IPS.keys()) proxy.network.heal("proxy", `server-${index}`);
  // Longer than any time-out.
  for (let turn = 0; turn < 300; turn += 1) settleAll(50);
  proxy.program.drain();
  for (let turn = 0; turn < 100; turn += 1) settleAll(50);
  return judge(proxy, asked);
}

/** Sends back what came, when all of it has. */
function answer({ peer }: SimulatedPeer): void {
  for (const notes of peer.opened) {
    const { stream, body, isEnded } = notes;
    if (stream.isClosed || stream.isLocalEnded || stream.hasKept || !isEnded) continue;
    stream.sendFields(OK, false);
    notes.send(body, true);
  }
}

function judge(proxy: SimulatedProxy, asked: readonly Asked[]): ChurnOutcome {
  const answered = asked.filter(({ notes }) => notes.isDone && notes.status === "200");
  const stuck = asked.filter(({ notes }) => !notes.stream.isClosed);
  return {
    answered: answered.length,
    mixedUp: answered.filter(({ notes, body }) => notes.body !== body).length,
    failed: asked.length - answered.length - stuck.length,
    stuck: stuck.length,
    left: [
      proxy.net.loop.size,
      proxy.program.openCount,
      ...[0, 1, 2, 3, 4].map((row) => proxy.blocks.counts(row).connections),
    ],
    errors: proxy.errors,
  };
}
