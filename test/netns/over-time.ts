import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test, vi } from "vitest";
import { shareTolerance } from "../../src/backends/contract-judge.ts";
import type { Protocol } from "../../src/core/model/common.ts";
import { endpointSchema } from "../../src/core/model/endpoint.ts";
import { nodeSchema } from "../../src/core/model/node.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { serviceSchema } from "../../src/core/model/service.ts";
import { TOPOLOGY, type WorkloadName } from "../../src/core/route/scenarios/topology.ts";
import type { RawOptions } from "./backend-messages.ts";
import { BackendProcess } from "./backend-process.ts";
import type { CallOutcome } from "./call.ts";
import { parseGreeting } from "./greeting.ts";
import type { NamespaceNetwork } from "./namespace-network.ts";
import type { PartyName } from "./plan-network.ts";
import { Stage } from "./stage.ts";

/** A backend that programs the kernel, and how others harm what it programmed. */
export interface OverTimeSubject {
  readonly backend: string;
  /** With no pause between syncs. */
  readonly options: RawOptions;
  /** Makes it repair what others altered in no time. */
  readonly quickRepair: RawOptions;
  /** Takes all its rules away from outside. */
  readonly harm: (network: NamespaceNetwork) => void;
}

const { workloads, clusterIP, outside, nodes, nodePort, port, targetPort } = TOPOLOGY;
const NODE_IP = nodes["node-a"].addresses.v4;
const IP = clusterIP.v4;
const OTHER_PORT = 8081;
const CLIENT_PORT = 41_000;
const ECHO_PORT = 7777;

const NODE = nodeSchema.parse({ kind: "Node", name: "node-a", addresses: [NODE_IP] });

function service(more: object = {}): ModelObject {
  return serviceSchema.parse({
    kind: "Service",
    name: "web",
    clusterIPs: [IP],
    ports: [{ name: "main", port, targetPort }],
    ...more,
  });
}

function endpoint(workload: WorkloadName, more: object = {}): ModelObject {
  const { node, addresses } = workloads[workload];
  const base = { kind: "Endpoint", name: workload, group: "web", addresses: [addresses.v4], node };
  return endpointSchema.parse({ ...base, ...more });
}

/** A node under test with a backend on it. */
class Play {
  readonly stage: Stage;
  #subject: OverTimeSubject;
  #backend: BackendProcess;

  private constructor(subject: OverTimeSubject, stage: Stage) {
    this.#subject = subject;
    this.stage = stage;
    this.#backend = new BackendProcess(stage.network);
  }

  static async open(subject: OverTimeSubject, more: RawOptions = {}): Promise<Play> {
    const play = new Play(subject, Stage.open());
    onTestFinished(async () => {
      await play.#backend.close();
      play.stage.close();
    });
    await play.#start(more);
    return play;
  }

  apply(...objects: readonly ModelObject[]): Promise<void> {
    return this.#backend.apply([NODE, ...objects]);
  }

  /** Ends the backend without a word, and starts another one. */
  async restart(...objects: readonly ModelObject[]): Promise<void> {
    await this.#backend.kill();
    this.#backend = new BackendProcess(this.stage.network);
    await this.#start({});
    await this.apply(...objects);
  }

  /** Ends the backend with all that it programmed, and starts another kind. */
  async switchTo(subject: OverTimeSubject, ...objects: readonly ModelObject[]): Promise<void> {
    await this.#backend.close();
    this.#subject = subject;
    this.#backend = new BackendProcess(this.stage.network);
    await this.#start({});
    await this.apply(...objects);
  }

  /** Who answers whom, as `address:port`, or what else becomes of it. */
  async call(more: Partial<Parameters<Stage["call"]>[0][number]> = {}): Promise<string> {
    const base = { party: "outside", protocol: "TCP", from: outside.v4, to: IP, port } as const;
    const [outcome] = await this.stage.call([{ ...base, ...more }]);
    return outcome === undefined ? "nothing" : textOf(outcome);
  }

  async calls(count: number, more: Parameters<Play["call"]>[0] = {}): Promise<ReadonlySet<string>> {
    return new Set(await Promise.all(Array.from({ length: count }, () => this.call(more))));
  }

  harm(): void {
    this.#subject.harm(this.stage.network);
  }

  #start(more: RawOptions): Promise<void> {
    return this.#backend.start(this.#subject.backend, { ...this.#subject.options, ...more });
  }
}

function textOf(outcome: CallOutcome): string {
  if (outcome.kind !== "answered") return outcome.kind;
  const { at, port: on } = parseGreeting(outcome.text);
  return `${at}:${on}`;
}

function at(workload: WorkloadName, on: number = targetPort): string {
  return `${workloads[workload].addresses.v4}:${on}`;
}

/** Enough that each of two endpoints is among them, but for once in a billion times. */
const MANY = 31;

/** What happens to packets while services change: one test for each. */
export function describeOverTime(subject: OverTimeSubject): void {
  const open = (more?: RawOptions): Promise<Play> => Play.open(subject, more);

  test("one port number in three protocols, each to its own endpoints", async () => {
    const play = await open();
    const protocols: readonly Protocol[] = ["TCP", "UDP", "SCTP"];
    const ports = protocols.map((protocol) => ({ name: protocol, protocol, port, targetPort }));
    const only = (name: Protocol) => ({ ports: [{ name, port: targetPort }] });
    await play.apply(
      service({ ports }),
      endpoint("web-a", only("TCP")),
      endpoint("web-b", only("UDP")),
      endpoint("web-c", only("SCTP")),
    );
    const answers = await Promise.all(protocols.map((protocol) => play.call({ protocol })));
    expect(answers).toEqual([at("web-a"), at("web-b"), at("web-c")]);
  });

  test("a named target port means another number at each endpoint", async () => {
    const play = await open();
    play.stage.serve({
      party: "node-b",
      protocol: "TCP",
      ip: workloads["web-b"].addresses.v4,
      port: OTHER_PORT,
    });
    await play.apply(
      service({ ports: [{ name: "main", port, targetPortName: "http" }] }),
      endpoint("web-a", { ports: [{ name: "main", port: targetPort }] }),
      endpoint("web-b", { ports: [{ name: "main", port: OTHER_PORT }] }),
    );
    expect(await play.calls(MANY)).toEqual(new Set([at("web-a"), at("web-b", OTHER_PORT)]));
  });

  test("endpoints of several slices, with one of them in two", async () => {
    const play = await open();
    await play.apply(
      service(),
      endpoint("web-a", { name: "one-a", source: "one" }),
      endpoint("web-b", { name: "one-b", source: "one" }),
      endpoint("web-b", { name: "two-b", source: "two" }),
      endpoint("web-c", { name: "two-c", source: "two" }),
    );
    const answers = await play.calls(MANY * 2);
    expect(answers).toEqual(new Set([at("web-a"), at("web-b"), at("web-c")]));
  });

  test("ports come and go, and the service goes and comes back", async () => {
    const play = await open();
    const second = { name: "second", port: port + 1, targetPort };
    const [one, two] = [
      service(),
      service({ ports: [{ name: "main", port, targetPort }, second] }),
    ];
    const call = (): Promise<readonly string[]> =>
      Promise.all([play.call(), play.call({ port: port + 1 })]);
    const server = endpoint("web-a");
    await play.apply(one, server);
    expect(await call()).toEqual([at("web-a"), "refused"]);
    await play.apply(two, server);
    expect(await call()).toEqual([at("web-a"), at("web-a")]);
    await play.apply(one, server);
    expect(await call()).toEqual([at("web-a"), "refused"]);
    await play.apply();
    await play.apply(one, endpoint("web-b"));
    expect(await call()).toEqual([at("web-b"), "refused"]);
  });

  test("the last endpoint goes: refused at once; one comes: served", async () => {
    const play = await open();
    for (const protocol of ["TCP", "UDP"] as const) {
      const ports = [{ name: "main", protocol, port, targetPort }];
      await play.apply(service({ ports }));
      expect(await play.call({ protocol })).toBe("refused");
      await play.apply(service({ ports }), endpoint("web-b"));
      expect(await play.call({ protocol })).toBe(at("web-b"));
      await play.apply(service({ ports }));
      expect(await play.call({ protocol })).toBe("refused");
    }
  });

  test("a UDP client whose server is replaced is sent to the new one", async () => {
    const play = await open();
    const ports = [{ name: "main", protocol: "UDP", port, targetPort, nodePort }];
    const udp = service({ type: "NodePort", ports });
    const clients = [
      { protocol: "UDP", fromPort: CLIENT_PORT },
      { protocol: "UDP", fromPort: CLIENT_PORT + 1, to: NODE_IP, port: nodePort },
    ] as const;
    const call = () => Promise.all(clients.map((client) => play.call(client)));
    await play.apply(udp, endpoint("web-a"));
    expect(await call()).toEqual([at("web-a"), at("web-a")]);
    await play.apply(udp, endpoint("web-b"));
    expect(await call()).toEqual([at("web-b"), at("web-b")]);
    await play.apply(udp);
    expect(await call()).toEqual(["refused", "refused"]);
    await play.apply(udp, endpoint("web-c"));
    expect(await call()).toEqual([at("web-c"), at("web-c")]);
  });

  test("a UDP client follows a target port that changes", async () => {
    const play = await open();
    const ip = workloads["web-a"].addresses.v4;
    play.stage.serve({ party: "web-a", protocol: "UDP", ip, port: OTHER_PORT });
    const udp = (target: number): ModelObject =>
      service({ ports: [{ name: "main", protocol: "UDP", port, targetPort: target }] });
    const client = { protocol: "UDP", fromPort: CLIENT_PORT } as const;
    await play.apply(udp(targetPort), endpoint("web-a"));
    expect(await play.call(client)).toBe(at("web-a"));
    await play.apply(udp(OTHER_PORT), endpoint("web-a"));
    expect(await play.call(client)).toBe(at("web-a", OTHER_PORT));
  });

  test("affinity is switched on and off, for the cluster IP and the node port", async () => {
    const play = await open();
    const sticky = (affinitySeconds: number): ModelObject =>
      service({
        type: "NodePort",
        ports: [{ name: "main", port, targetPort, nodePort }],
        affinitySeconds,
      });
    const servers = [endpoint("web-a"), endpoint("web-b"), endpoint("web-c")];
    const ways = [{}, { to: NODE_IP, port: nodePort }];
    await play.apply(sticky(0), ...servers);
    for (const way of ways) expect((await play.calls(MANY, way)).size).toBeGreaterThan(1);
    await play.apply(sticky(600), ...servers);
    for (const way of ways) {
      const bound = await play.call(way);
      expect(await play.calls(MANY, way)).toEqual(new Set([bound]));
    }
    await play.apply(sticky(0), ...servers);
    for (const way of ways) expect((await play.calls(MANY, way)).size).toBeGreaterThan(1);
  });

  test("a node port is closed when the service becomes a cluster IP's alone", async () => {
    const play = await open();
    const [open_, closed] = [
      service({ type: "NodePort", ports: [{ name: "main", port, targetPort, nodePort }] }),
      service(),
    ];
    await play.apply(open_, endpoint("web-a"));
    expect(await play.call({ to: NODE_IP, port: nodePort })).toBe(at("web-a"));
    await play.apply(closed, endpoint("web-a"));
    expect(await play.call({ to: NODE_IP, port: nodePort })).toBe("refused");
    expect(await play.call()).toBe(at("web-a"));
  });

  test("shares follow weights that change", async () => {
    const play = await open();
    const count = 400;
    const shareOf = async (workload: WorkloadName): Promise<number> => {
      const base = { party: "outside", protocol: "TCP", from: outside.v4, to: IP, port } as const;
      const outcomes = await play.stage.call(Array.from({ length: count }, () => base));
      return outcomes.filter((outcome) => textOf(outcome) === at(workload)).length / count;
    };
    for (const [a, b] of [
      [1, 9],
      [3, 1],
      [1, 1],
    ] as const) {
      const expected = a / (a + b);
      await play.apply(
        service(),
        endpoint("web-a", { weight: a }),
        endpoint("web-b", { weight: b }),
      );
      const share = await shareOf("web-a");
      expect(share).toBeGreaterThan(0);
      expect(Math.abs(share - expected)).toBeLessThan(shareTolerance(expected, count));
    }
  });

  test("rules that were deleted by hand come back", async () => {
    const play = await open(subject.quickRepair);
    await play.apply(service(), endpoint("web-a"));
    expect(await play.call()).toBe(at("web-a"));
    play.harm();
    await vi.waitFor(async () => expect(await play.call()).toBe(at("web-a")), { timeout: 20_000 });
  });

  test("open connections go on through a crash and a restart, and new ones are served", async () => {
    const play = await open();
    await play.apply(...ECHO_STATE);
    const client = await connect(play.stage.network);
    await play.restart(...ECHO_STATE);
    expect(await client.ask("after")).toBe("after");
    await connectAgain(play.stage.network);
  });
}

/** From one backend to another, by clean-up and start. */
export function describeSwitching(from: OverTimeSubject, to: OverTimeSubject): void {
  test("open connections go on, and new ones are served by the other", async () => {
    const play = await Play.open(from);
    await play.apply(...ECHO_STATE);
    const client = await connect(play.stage.network);
    await play.switchTo(to, ...ECHO_STATE);
    expect(await client.ask("after")).toBe("after");
    await connectAgain(play.stage.network);
  });
}

const ECHO_STATE = [
  service({ ports: [{ name: "main", port, targetPort: ECHO_PORT }] }),
  endpoint("web-a"),
];

/** An open connection to the service, whose endpoint echoes. */
async function connect(network: NamespaceNetwork): Promise<Lines> {
  expect(await new Lines(network, "web-a", ECHO).next()).toBe("serving");
  const client = await connectAgain(network);
  expect(await client.ask("before")).toBe("before");
  return client;
}

async function connectAgain(network: NamespaceNetwork): Promise<Lines> {
  const client = new Lines(network, "outside", CLIENT);
  expect(await client.next()).toBe("connected");
  return client;
}

const ECHO = `require("node:net").createServer((socket) => socket.pipe(socket)).listen(${ECHO_PORT}, () => console.log("serving"))`;
const CLIENT = `const socket = require("node:net").connect(${port}, "${IP}", () => console.log("connected")); process.stdin.pipe(socket).pipe(process.stdout)`;

/** A program in a namespace that is spoken to in lines. */
class Lines {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(network: NamespaceNetwork, party: PartyName, script: string) {
    const child = network.inside(party, () =>
      spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] }),
    );
    onTestFinished(async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  async next(): Promise<string> {
    const { value } = await this.#lines.next();
    return String(value);
  }

  ask(line: string): Promise<string> {
    this.#child.stdin?.write(`${line}\n`);
    return this.next();
  }
}
