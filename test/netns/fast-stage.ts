import { expect, onTestFinished, vi } from "vitest";
import type { Family } from "../../src/core/model/address.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { TOPOLOGY, type WorkloadName } from "../../src/core/route/scenarios/topology.ts";
import { openTcpFlowTable } from "../../src/platform/linux/conntrack/tcp-flow-table.ts";
import { parseForwardedV4, parseForwardedV6 } from "../../src/platform/linux/forwarded-packets.ts";
import type { TcpFlow } from "../../src/wire/netlink/conntrack/tcp-flow.ts";
import type { RawOptions } from "./backend-messages.ts";
import type { NamespaceNetwork } from "./namespace-network.ts";
import type { PartyName } from "./plan-network.ts";
import { endpoint, NODE_IPS, type OverTimeSubject, Play, service } from "./play.ts";
import {
  converse,
  openStream,
  type StreamEnd,
  type StreamPlace,
  StreamServer,
} from "./tcp-streams.ts";

const { clusterIP, nodePort, outside, port, workloads } = TOPOLOGY;
const STREAM_PORT = 7777;
const FIRST_PORT = 41_000;
/** A test of whether the rules see a conversation: of few words, most of which they see or do not. */
const WORDS = 20;
const FEW_PACKETS = 10;

export type ServerName = Exclude<WorkloadName, "client-a">;

const PARTIES: Readonly<Record<ServerName, PartyName>> = {
  "web-a": "web-a",
  "web-b": "node-b",
  "web-c": "node-c",
};

/** By which address of the service, and so from whom. */
export type FastWay = "cluster IP" | "node port";

/** A connection to the service. */
export interface FastPair {
  readonly family: Family;
  readonly way: FastWay;
  readonly fromPort: number;
  readonly client: StreamEnd;
  readonly server: StreamEnd;
}

export function serviceAt(...names: readonly ServerName[]): readonly ModelObject[] {
  return [
    service({
      type: "NodePort",
      ports: [{ name: "main", port, targetPort: STREAM_PORT, nodePort }],
    }),
    ...names.map((name) => endpoint(name)),
  ];
}

/** A node under test, with connections to a service and somebody else who counts their packets. */
export class FastStage {
  readonly play: Play;
  readonly network: NamespaceNetwork;
  readonly #servers = new Map<string, StreamServer>();
  readonly #table: ReturnType<typeof openTcpFlowTable>;
  #nextPort = FIRST_PORT;

  private constructor(play: Play) {
    this.play = play;
    this.network = play.stage.network;
    this.#table = this.network.inside("node-a", openTcpFlowTable);
    onTestFinished(() => this.#table.close());
    this.nft(
      "add table inet counting",
      "add chain inet counting look { type filter hook prerouting priority -100; }",
      "add chain inet counting stop { type filter hook forward priority -10; }",
    );
  }

  static async open(subject: OverTimeSubject, more: RawOptions = {}): Promise<FastStage> {
    const options = { ...subject.options, fastPath: "on", ...more };
    return new FastStage(await Play.open({ ...subject, options }));
  }

  nft(...commands: readonly string[]): string {
    return this.network.exec("node-a", "nft", ["-f", "-"], `${commands.join("\n")}\n`);
  }

  /** New connections come to these from then on. */
  serveAt(...names: readonly ServerName[]): Promise<void> {
    return this.play.apply(...serviceAt(...names));
  }

  /** @param fromPort one of its own where it is not given */
  async connect(
    family: Family,
    at: ServerName,
    way: FastWay = "cluster IP",
    fromPort: number = this.#takePort(),
  ): Promise<FastPair> {
    const arriving = this.#server(at, family).next();
    const place = this.placeOf({ family, way, fromPort });
    // The kernel takes a moment to forget the connection before.
    const client = await vi.waitFor(() => openStream(this.network, place));
    const server = await arriving;
    await converse(client, server, 1);
    return { family, way, fromPort, client, server };
  }

  /** How many packets somebody who looks at all of this connection sees of what happens. */
  async countOf({ fromPort }: FastPair, act: () => Promise<void>): Promise<number> {
    const read = (): number => {
      const args = ["list", "counter", "inet", "counting", `of${fromPort}`];
      return Number(/packets (\d+)/.exec(this.network.exec("node-a", "nft", args))?.[1]);
    };
    const before = read();
    await act();
    return read() - before;
  }

  /** How many packets of what happens the kernel forwards by the rules, of everybody. */
  async forwardedIn(act: () => Promise<void>): Promise<number> {
    const read = (): number => {
      const text = (name: string) => this.network.exec("node-a", "cat", [`/proc/net/${name}`]);
      return parseForwardedV4(text("snmp")) + parseForwardedV6(text("snmp6"));
    };
    const before = read();
    await act();
    return read() - before;
  }

  /** Talks until nearly nothing of it goes by the rules. */
  async takePath(pair: FastPair): Promise<void> {
    const { client, server } = pair;
    await vi.waitFor(
      async () =>
        expect(await this.countOf(pair, () => converse(client, server, WORDS))).toBeLessThan(
          FEW_PACKETS,
        ),
      { timeout: 5000, interval: 20 },
    );
  }

  async connectFast(family: Family, at: ServerName, way?: FastWay): Promise<FastPair> {
    const pair = await this.connect(family, at, way);
    await this.takePath(pair);
    return pair;
  }

  /** What the kernel tracks of it. */
  async flowOf(pair: FastPair): Promise<TcpFlow | undefined> {
    const { from: src, fromPort: srcPort, to: dst, port: dstPort } = this.placeOf(pair);
    const [flow] = await this.#table.ask([{ src, srcPort, dst, dstPort }]);
    return flow;
  }

  placeOf({ family, way, fromPort }: Pick<FastPair, "family" | "way" | "fromPort">): StreamPlace {
    if (way === "node port") {
      const [from, to] = [outside[family], NODE_IPS[family]];
      return { party: "outside", from, fromPort, to, port: nodePort };
    }
    const from = workloads["client-a"].addresses[family];
    return { party: "client-a", from, fromPort, to: clusterIP[family], port };
  }

  #server(at: ServerName, family: Family): StreamServer {
    const ip = workloads[at].addresses[family];
    const server =
      this.#servers.get(ip) ?? new StreamServer(this.network, PARTIES[at], ip, STREAM_PORT);
    this.#servers.set(ip, server);
    return server;
  }

  #takePort(): number {
    const fromPort = this.#nextPort;
    this.#nextPort += 1;
    this.nft(
      `add counter inet counting of${fromPort}`,
      `add rule inet counting look meta l4proto tcp ct original proto-src ${fromPort} counter name of${fromPort}`,
    );
    return fromPort;
  }
}
