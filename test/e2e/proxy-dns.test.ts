import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer as createTcpServer } from "node:net";
import { promisify } from "node:util";
import { type Answer, decode, encode, type Packet, streamEncode } from "dns-packet";
import { describe, expect, onTestFinished, test } from "vitest";
import { NO_HINTS } from "../../src/core/model/route-hints.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import {
  EMPTY_ENGINE_CONFIG,
  type EngineConfig,
  type ListenerConfig,
} from "../../src/proxy/engine-config.ts";
import { freePort } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { groupOf, LOCAL, listenerOf, serverOf } from "./proxy-config.ts";
import { dial, TestEngine } from "./proxy-fixture.ts";

const run = promisify(execFile);
const PROVIDERS = [
  { provider: "posix", loops: 2 },
  { provider: "node", loops: 1 },
] as const;

function dnsConfig(port: number, more: Partial<ListenerConfig> = {}): EngineConfig {
  const servers = [
    serverOf(8080, { key: "a", host: "10.0.0.1", weight: 2 }),
    serverOf(8081, { key: "b", host: "10.0.0.2" }),
    serverOf(8080, { key: "c", host: "fd00::1" }),
  ];
  const many = Array.from({ length: 16 }, (_, index) =>
    serverOf(80, { key: String(index), host: `10.1.0.${index}` }),
  );
  const hinted = (group: string, host: string) => ({
    group,
    weight: 1,
    hints: { ...NO_HINTS, host },
  });
  return {
    ...EMPTY_ENGINE_CONFIG,
    listeners: [
      listenerOf({
        mode: "dns",
        address: ipAddress(LOCAL, port),
        dns: { hosts: new Map([["host.example", ["192.0.2.7"]]]), forwardTo: [], ttlSeconds: 5 },
        ...more,
      }),
    ],
    upstreams: [
      {
        key: "web",
        affinitySeconds: 0,
        groups: [hinted("web", "a.example"), hinted("many", "*.many.example")],
      },
    ],
    groups: [groupOf(servers), groupOf(many, { key: "many" })],
  };
}

async function startDns(
  options: { readonly provider: "posix" | "node"; readonly loops: number },
  more: Partial<ListenerConfig> = {},
): Promise<{ readonly proxy: TestEngine; readonly port: number }> {
  const proxy = await TestEngine.start(options);
  const port = await freePort();
  await proxy.engine.apply(dnsConfig(port, more));
  return { proxy, port };
}

async function dig(port: number, ...args: readonly string[]): Promise<string> {
  const common = [`@${LOCAL}`, "-p", String(port), "+tries=1", "+time=5", "+nocookie"];
  const { stdout } = await run("dig", [...common, ...args]);
  return stdout;
}

async function short(port: number, ...args: readonly string[]): Promise<readonly string[]> {
  const lines = (await dig(port, "+short", ...args)).trim().split("\n");
  return lines.filter((line) => line !== "").sort();
}

interface Resolver {
  readonly port: number;
  readonly asked: Packet[];
  readonly overTcp: Packet[];
}

/** A resolver on UDP and TCP that answers as it is told; nothing: never. */
async function startResolver(
  answer: (query: Packet) => Partial<Packet> | undefined,
  isTruncating = false,
): Promise<Resolver> {
  const port = await freePort();
  const [asked, overTcp]: Packet[][] = [[], []];
  const replyTo = (query: Packet): Packet | undefined => {
    const reply = answer(query);
    if (reply === undefined) return undefined;
    const { id = 0, questions = [] } = query;
    return { type: "response", id, flags: 0x0180, questions, ...reply };
  };
  const udp = createSocket("udp4");
  udp.bind(port, LOCAL);
  udp.on("message", (bytes, from) => {
    const query = decode(bytes);
    asked?.push(query);
    const reply = isTruncating ? { ...replyTo(query), answers: [], flags: 0x0380 } : replyTo(query);
    if (reply !== undefined) udp.send(encode(reply), from.port, from.address);
  });
  const tcp = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      const query = decode(bytes.subarray(2));
      overTcp?.push(query);
      const reply = replyTo(query);
      if (reply !== undefined) socket.write(streamEncode(reply));
    });
  });
  tcp.listen(port, LOCAL);
  await Promise.all([once(udp, "listening"), once(tcp, "listening")]);
  onTestFinished(() => {
    udp.close();
    tcp.close();
  });
  return { port, asked: asked ?? [], overTcp: overTcp ?? [] };
}

const address = (name: string, ttl = 60): Answer => ({
  type: "A",
  name,
  ttl,
  data: "198.51.100.7",
});

const forwarding = (...resolvers: readonly Resolver[]): Partial<ListenerConfig> => ({
  allowOthers: true,
  dns: {
    hosts: new Map(),
    forwardTo: resolvers.map(({ port }) => ipAddress(LOCAL, port)),
    ttlSeconds: 5,
  },
});

describe.each(PROVIDERS)("names of groups with $provider", requires("linux", "dig"), (options) => {
  test("A, AAAA and SRV, over UDP and TCP", async () => {
    const { proxy, port } = await startDns(options);
    for (const by of ["+notcp", "+tcp"]) {
      expect(await short(port, by, "a.example", "A")).toEqual(["10.0.0.1", "10.0.0.2"]);
      expect(await short(port, by, "a.example", "AAAA")).toEqual(["fd00::1"]);
      expect(await short(port, by, "_web._tcp.a.example", "SRV")).toEqual([
        "0 1 8080 fd00-0-0-0-0-0-0-1.a.example.",
        "0 1 8081 10-0-0-2.a.example.",
        "0 2 8080 10-0-0-1.a.example.",
      ]);
      expect(await short(port, by, "10-0-0-2.a.example")).toEqual(["10.0.0.2"]);
      expect(await short(port, by, "host.example")).toEqual(["192.0.2.7"]);
    }
    expect(proxy.engine.stats().listeners[0]).toMatchObject({
      connections: 0,
      totalConnections: 10,
      failures: 0,
    });
  });

  test("letters are kept, flags are right, and EDNS is answered only where it is spoken", async () => {
    const { port } = await startDns(options);
    const plain = await dig(port, "+noedns", "+norecurse", "A.eXaMpLe");
    expect(plain).toMatch(/flags: qr aa;/);
    expect(plain).toContain("A.eXaMpLe.");
    expect(plain).not.toContain("EDNS");
    expect(await dig(port, "+edns=0", "a.example")).toMatch(/EDNS: version: 0, flags:; udp: 1232/);
    expect(await dig(port, "+edns=1", "+noednsneg", "a.example")).toContain("status: BADVERS");
  });

  test("what does not fit into a datagram is asked for over TCP", async () => {
    const { port } = await startDns(options);
    const cut = await dig(port, "+noedns", "+ignore", "x.many.example", "SRV");
    expect(cut).toMatch(/flags: qr aa tc/);
    expect(await short(port, "+noedns", "x.many.example", "SRV")).toHaveLength(16);
    expect(await short(port, "+bufsize=1232", "+ignore", "x.many.example", "A")).toHaveLength(16);
  });

  test("others are refused, and what is below our names does not exist", async () => {
    const { port } = await startDns(options);
    expect(await dig(port, "other.example")).toContain("status: REFUSED");
    expect(await dig(port, "x.a.example")).toContain("status: NXDOMAIN");
    expect(await dig(port, "version.bind", "CH", "TXT")).toContain("status: REFUSED");
  });

  test("noise is not answered, and does not disturb", async () => {
    const { proxy, port } = await startDns(options);
    const socket = createSocket("udp4");
    onTestFinished(() => {
      socket.close();
    });
    for (const noise of ["", "x", "\u0080".repeat(40)]) socket.send(noise, port, LOCAL);
    const stream = await dial(port);
    stream.end(Buffer.from([0, 3, 1, 2, 3]));
    await once(stream.resume(), "end");
    await proxy.until(({ listeners }) => (listeners[0]?.totalConnections ?? 0) >= 3);
    expect(await short(port, "a.example", "AAAA")).toEqual(["fd00::1"]);
  });
});

describe.each(PROVIDERS)("forwarding with $provider", requires("linux", "dig"), (options) => {
  test("others are asked for once, kept for a time, and told with the client's letters", async () => {
    const resolver = await startResolver(() => ({ answers: [address("other.example")] }));
    const { proxy, port } = await startDns({ ...options, loops: 1 }, forwarding(resolver));
    const answer = await dig(port, "Other.Example");
    expect(answer).toMatch(/flags: qr rd ra;/);
    expect(answer).toContain(";Other.Example.");
    expect(await short(port, "other.EXAMPLE", "+norecurse")).toEqual(["198.51.100.7"]);
    expect(resolver.asked).toHaveLength(1);
    expect(resolver.asked[0]?.questions?.[0]?.name).toBe("Other.Example");
    const { names } = proxy.engine;
    const [known] = await names.list();
    expect(known).toMatchObject({ name: "other.example", addresses: ["198.51.100.7"] });
    expect(await names.forget(known?.listener ?? "", "other.example")).toBe(true);
    expect(await names.list()).toEqual([]);
    await dig(port, "Other.Example");
    expect(resolver.asked).toHaveLength(2);
    expect(await dig(port, "another.example", "+norecurse")).toContain("status: REFUSED");
  });

  test("ids are not the client's; a resolver that fails is left for the next", async () => {
    const broken = await startResolver(() => ({ flags: 0x0182 }));
    const good = await startResolver(({ questions }) => ({
      answers: [address(questions?.[0]?.name ?? "")],
    }));
    const { port } = await startDns(options, forwarding(broken, good));
    for (let index = 0; index < 4; index += 1) {
      expect(await short(port, "+qid=7", `n${index}.example`)).toEqual(["198.51.100.7"]);
    }
    const ids = good.asked.map(({ id }) => id);
    expect(new Set(ids).size).toBeGreaterThan(1);
    expect(broken.asked).toHaveLength(4);
  });

  test("wrong answers are not believed; who answers nothing is left for the next", async () => {
    const liar = await startResolver(({ id = 0 }) => ({
      id: id ^ 1,
      answers: [{ type: "A", name: "x.example", ttl: 60, data: "203.0.113.66" }],
    }));
    const good = await startResolver(() => ({ answers: [address("x.example")] }));
    const { port } = await startDns(options, forwarding(liar, good));
    expect(await short(port, "x.example")).toEqual(["198.51.100.7"]);
  });

  test("an answer that is cut short is asked for over TCP", async () => {
    const answers = Array.from({ length: 100 }, (_, index): Answer => {
      return { type: "A", name: "big.example", ttl: 9, data: `198.51.100.${index}` };
    });
    const resolver = await startResolver(() => ({ answers }), true);
    // Each loop keeps answers for itself, and dig asks again by another socket.
    const { port } = await startDns({ ...options, loops: 1 }, forwarding(resolver));
    expect(await short(port, "big.example")).toHaveLength(100);
    expect(resolver.overTcp).toHaveLength(1);
  });

  test("that there is no such name is passed on; where nobody answers, that is a failure", async () => {
    const resolver = await startResolver(() => ({ flags: 0x0183 }));
    const { port } = await startDns(options, forwarding(resolver));
    expect(await dig(port, "none.example")).toContain("status: NXDOMAIN");
    const alone = await startDns(options, forwarding());
    expect(await dig(alone.port, "none.example")).toContain("status: SERVFAIL");
  });
});

describe("changes", requires("linux", "dig"), () => {
  test("hosts and servers change while it runs, and mode too", async () => {
    const { proxy, port } = await startDns(PROVIDERS[0]);
    expect(await short(port, "host.example")).toEqual(["192.0.2.7"]);
    const hosts = new Map([["host.example", ["192.0.2.8"]]]);
    await proxy.engine.apply(dnsConfig(port, { dns: { hosts, forwardTo: [], ttlSeconds: 5 } }));
    expect(await short(port, "host.example")).toEqual(["192.0.2.8"]);
    await proxy.engine.apply(EMPTY_ENGINE_CONFIG);
    await expect(dig(port, "+tcp", "host.example")).rejects.toMatchObject({ code: 9 });
  });

  test("a client that asks much over one connection gets all answers", async () => {
    const { port } = await startDns(PROVIDERS[0]);
    const stream = await dial(port);
    const count = 500;
    const question = (id: number): Buffer =>
      streamEncode({ type: "query", id, questions: [{ type: "A", name: "a.example" }] });
    stream.end(Buffer.concat(Array.from({ length: count }, (_, id) => question(id))));
    const ids = new Set<number>();
    let pending: Buffer = Buffer.alloc(0);
    for await (const chunk of stream) {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length > 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0);
        ids.add(pending.readUInt16BE(2));
        pending = pending.subarray(end);
      }
    }
    expect(ids.size).toBe(count);
  });
});
