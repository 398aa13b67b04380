import { expect, test, vi } from "vitest";
import { shareTolerance } from "../../src/backends/contract-judge.ts";
import { FAMILIES, type Family } from "../../src/core/model/address.ts";
import type { Protocol } from "../../src/core/model/common.ts";
import { listenerSchema } from "../../src/core/model/listener.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { TOPOLOGY, type WorkloadName } from "../../src/core/route/scenarios/topology.ts";
import type { RawOptions } from "./backend-messages.ts";
import { Lines } from "./namespace-lines.ts";
import type { NamespaceNetwork } from "./namespace-network.ts";
import { at, both, endpoint, NODE_IPS, type OverTimeSubject, Play, service } from "./play.ts";

const { workloads, clusterIP, listenPort, nodePort, port, targetPort } = TOPOLOGY;
const ANY = { v4: "0.0.0.0", v6: "::" } as const;
const OTHER_PORT = 8081;
const CLIENT_PORT = 41_000;
const ECHO_PORT = 7777;

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
    for (const ip of both(workloads["web-b"].addresses)) {
      play.stage.serve({ party: "node-b", protocol: "TCP", ip, port: OTHER_PORT });
    }
    await play.apply(
      service({ ports: [{ name: "main", port, targetPortName: "http" }] }),
      endpoint("web-a", { ports: [{ name: "main", port: targetPort }] }),
      endpoint("web-b", { ports: [{ name: "main", port: OTHER_PORT }] }),
    );
    for (const family of FAMILIES) {
      const answers = await play.answerers(family, MANY);
      expect(answers).toEqual(new Set([at("web-a"), at("web-b", OTHER_PORT)]));
    }
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
    for (const family of FAMILIES) {
      const answers = await play.answerers(family, MANY * 2);
      expect(answers).toEqual(new Set([at("web-a"), at("web-b"), at("web-c")]));
    }
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
    const udp = [service({ type: "NodePort", ports }), ...udpListeners()];
    const ways = [
      {},
      { to: NODE_IPS, port: nodePort },
      { to: NODE_IPS, port: listenPort },
      { to: NODE_IPS, port: listenPort + 1 },
    ];
    const call = () =>
      Promise.all(
        ways.map((way, index) =>
          play.call({ protocol: "UDP", fromPort: CLIENT_PORT + index, ...way }),
        ),
      );
    const each = (answer: string): readonly string[] => ways.map(() => answer);
    await play.apply(...udp, endpoint("web-a"));
    expect(await call()).toEqual(each(at("web-a")));
    await play.apply(...udp, endpoint("web-b"));
    expect(await call()).toEqual(each(at("web-b")));
    await play.apply(...udp);
    expect(await call()).toEqual(each("refused"));
    await play.apply(...udp, endpoint("web-c"));
    expect(await call()).toEqual(each(at("web-c")));
  });

  test("a UDP client stays with a server that ends until it stops serving; new ones go elsewhere", async () => {
    const play = await open();
    const udp = service({ ports: [{ name: "main", protocol: "UDP", port, targetPort }] });
    const ending = { ready: false, serving: true, terminating: true };
    const old = { protocol: "UDP", fromPort: CLIENT_PORT } as const;
    await play.apply(udp, endpoint("web-a"));
    expect(await play.call(old)).toBe(at("web-a"));
    await play.apply(udp, endpoint("web-a", ending), endpoint("web-b"));
    expect(await play.call(old)).toBe(at("web-a"));
    expect(await play.call({ protocol: "UDP" })).toBe(at("web-b"));
    await play.apply(udp, endpoint("web-a", { ...ending, serving: false }), endpoint("web-b"));
    expect(await play.call(old)).toBe(at("web-b"));
  });

  test("a UDP client follows a target port that changes", async () => {
    const play = await open();
    for (const ip of both(workloads["web-a"].addresses)) {
      play.stage.serve({ party: "web-a", protocol: "UDP", ip, port: OTHER_PORT });
    }
    const udp = (target: number): ModelObject =>
      service({ ports: [{ name: "main", protocol: "UDP", port, targetPort: target }] });
    const client = { protocol: "UDP", fromPort: CLIENT_PORT } as const;
    await play.apply(udp(targetPort), endpoint("web-a"));
    expect(await play.call(client)).toBe(at("web-a"));
    await play.apply(udp(OTHER_PORT), endpoint("web-a"));
    expect(await play.call(client)).toBe(at("web-a", OTHER_PORT));
  });

  test("affinity is switched on, moves with who is lost, and is switched off, for the cluster IP and the node port", async () => {
    const play = await open();
    const sticky = (affinitySeconds: number): ModelObject =>
      service({
        type: "NodePort",
        ports: [{ name: "main", port, targetPort, nodePort }],
        affinitySeconds,
      });
    const names = ["web-a", "web-b", "web-c"] as const;
    const servers = names.map((name) => endpoint(name));
    const ways = FAMILIES.flatMap((family) => [
      { family, way: {} },
      { family, way: { to: NODE_IPS, port: nodePort } },
    ]);
    const expectSpread = async (): Promise<void> => {
      for (const { family, way } of ways) {
        expect((await play.answerers(family, MANY, way)).size).toBeGreaterThan(1);
      }
    };
    await play.apply(sticky(0), ...servers);
    await expectSpread();
    await play.apply(sticky(600), ...servers);
    for (const { family, way } of ways) {
      const bound = await play.callOver(family, way);
      expect(await play.answerers(family, MANY, way)).toEqual(new Set([bound]));
    }
    for (const family of FAMILIES) {
      const lost = await play.callOver(family);
      const left = names.filter((name) => at(name) !== lost);
      await play.apply(sticky(600), ...left.map((name) => endpoint(name)));
      const bound = await play.callOver(family);
      expect(bound).not.toBe(lost);
      expect(await play.answerers(family, MANY)).toEqual(new Set([bound]));
      await play.apply(sticky(600), ...servers);
    }
    await play.apply(sticky(0), ...servers);
    await expectSpread();
  });

  test("a node port is closed when the service becomes a cluster IP's alone", async () => {
    const play = await open();
    const [open_, closed] = [
      service({ type: "NodePort", ports: [{ name: "main", port, targetPort, nodePort }] }),
      service(),
    ];
    await play.apply(open_, endpoint("web-a"));
    expect(await play.call({ to: NODE_IPS, port: nodePort })).toBe(at("web-a"));
    await play.apply(closed, endpoint("web-a"));
    expect(await play.call({ to: NODE_IPS, port: nodePort })).toBe("refused");
    expect(await play.call()).toBe(at("web-a"));
  });

  test("shares follow weights that change", async () => {
    const play = await open();
    const count = 400;
    const shareOf = async (workload: WorkloadName, family: Family): Promise<number> => {
      const answers = await play.callMany(family, count);
      return answers.filter((answer) => answer === at(workload)).length / count;
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
      for (const family of FAMILIES) {
        const share = await shareOf("web-a", family);
        expect(share).toBeGreaterThan(0);
        expect(Math.abs(share - expected)).toBeLessThan(shareTolerance(expected, count));
      }
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
    const clients = await connect(play.stage.network);
    await play.restart(...ECHO_STATE);
    for (const client of clients) expect(await client.ask("after")).toBe("after");
    await connectAgain(play.stage.network);
  });
}

/** To the service, on an address of the node and on all of them, in each family. */
function udpListeners(): readonly ModelObject[] {
  const listener = (name: string, address: string, on: number): ModelObject =>
    listenerSchema.parse({
      kind: "Listener",
      name,
      mode: "udp",
      address,
      port: on,
      service: "default/web",
    });
  return FAMILIES.flatMap((family) => [
    listener(`one-${family}`, NODE_IPS[family], listenPort),
    listener(`all-${family}`, ANY[family], listenPort + 1),
  ]);
}

/** From one backend to another, by clean-up and start. */
export function describeSwitching(from: OverTimeSubject, to: OverTimeSubject): void {
  test("open connections that say nothing go on, and new ones are served by the other", async () => {
    const play = await Play.open(from);
    await play.apply(...ECHO_STATE);
    const clients = await connect(play.stage.network);
    await play.switchTo(to, ...ECHO_STATE);
    for (const client of clients) expect(await client.ask("after")).toBe("after");
    await connectAgain(play.stage.network);
  });
}

/** The same, but what the first one left is cleaned up when the other serves. */
export function describeReplacing(from: OverTimeSubject, to: OverTimeSubject): void {
  test("open connections that talk all the time go on, and nothing is left of the first", async () => {
    const play = await Play.open(from);
    await play.apply(...ECHO_STATE);
    const talks = (await connect(play.stage.network)).map((client) => new Talk(client));
    await play.replaceBy(to, ...ECHO_STATE);
    for (const talk of talks) await talk.goOn(MORE_WORDS);
    const { network } = play.stage;
    const left = network.exec("node-a", "nft", ["list", "ruleset"]);
    expect(left.includes("table ip portolan")).toBe(to.backend === "nftables");
    expect(left.includes("KUBE-SERVICES")).toBe(to.backend === "iptables");
    await connectAgain(network);
    for (const talk of talks) await talk.end();
  });
}

const MORE_WORDS = 20;

/** Somebody who says something all the time, and is answered. */
class Talk {
  readonly #over: Promise<void>;
  #isOver = false;
  #words = 0;

  constructor(client: Lines) {
    this.#over = this.#talk(client);
    this.#over.catch(() => undefined);
  }

  /** Until so much more was said and answered. */
  async goOn(words: number): Promise<void> {
    const enough = this.#words + words;
    const said = vi.waitFor(() => expect(this.#words).toBeGreaterThanOrEqual(enough));
    await Promise.race([said, this.#over]);
    await said;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#over;
  }

  async #talk(client: Lines): Promise<void> {
    while (!this.#isOver) {
      const word = `word ${this.#words}`;
      expect(await client.ask(word)).toBe(word);
      this.#words += 1;
    }
  }
}

const ECHO_STATE = [
  service({ ports: [{ name: "main", port, targetPort: ECHO_PORT }] }),
  endpoint("web-a"),
];

/** An open connection to the service in each family; its endpoint echoes. */
async function connect(network: NamespaceNetwork): Promise<readonly Lines[]> {
  expect(await new Lines(network, "web-a", ECHO).next()).toBe("serving");
  const clients = await connectAgain(network);
  for (const client of clients) expect(await client.ask("before")).toBe("before");
  return clients;
}

async function connectAgain(network: NamespaceNetwork): Promise<readonly Lines[]> {
  const clients = both(clusterIP).map((ip) => new Lines(network, "outside", clientOf(ip)));
  for (const client of clients) expect(await client.next()).toBe("connected");
  return clients;
}

const ECHO = `require("node:net").createServer((socket) => socket.pipe(socket)).listen(${ECHO_PORT}, () => console.log("serving"))`;

function clientOf(ip: string): string {
  return `const socket = require("node:net").connect(${port}, "${ip}", () => console.log("connected")); process.stdin.pipe(socket).pipe(process.stdout)`;
}
