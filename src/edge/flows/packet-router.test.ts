import { expect, test } from "vitest";
import { ipOfWords, wordsOfIp } from "../../wire/ip/address-words.ts";
import { IpPacket } from "../../wire/ip/ip-packet.ts";
import {
  hasRightChecksums,
  type PacketSpec,
  packetOf,
  viewOf,
} from "../../wire/ip/packets.fixture.ts";
import { ServiceTable } from "../table/service-table.ts";
import { FlowTable } from "./flow-table.ts";
import { PacketRouter, type RoutePeer, type Target } from "./packet-router.ts";
import { PrefixMap } from "./prefix-map.ts";

interface Peer extends RoutePeer {
  isGone: boolean;
}

/** This node is a, with the workloads 10.18.0.2 (instance 0 of shop/app) and 10.18.0.3. */
function world() {
  const table = new ServiceTable();
  const peers = new Map<string, Peer>(
    ["b", "c", "old"].map((node) => [
      node,
      { node, isGone: false, wantsServiceSources: node === "old" },
    ]),
  );
  const routes = new PrefixMap<Target<Peer>>();
  for (const cidr of ["10.18.0.0/26", "fc00::/120"]) routes.add(cidr, "local");
  [...peers.values()].forEach((peer, index) => {
    routes.add(`10.18.${index + 1}.0/26`, peer);
    routes.add(`fc00::${index + 1}00/120`, peer);
  });
  const serviceRanges = new PrefixMap<true>();
  serviceRanges.add("10.30.0.0/16", true);
  const router = new PacketRouter<Peer>({
    table,
    flows: new FlowTable({ maxFlows: 1000 }),
    routes,
    serviceRanges,
    observed: { roundTripMs: (node) => (node === "a" ? 0 : undefined) },
    hairpin: { v4: wordsOfIp("10.30.255.254"), v6: undefined },
    peerOf: (node) => (node === "a" ? "local" : peers.get(node)),
  });
  const serve = (...nodes: readonly string[]): void =>
    table.set({
      key: "shop/web",
      names: [],
      addresses: [
        { address: "10.30.0.1", policy: "round-robin", instance: -1 },
        { address: "10.30.0.2", policy: "closest", instance: -1 },
        { address: "10.30.0.9", policy: "instance", instance: 3 },
        { address: "fdff:2000::1", policy: "round-robin", instance: -1 },
      ],
      instances: nodes.map((node) => {
        const number = ["a", "b", "c", "old"].indexOf(node);
        const addresses = [`10.18.${number}.9`, `fc00::${number}09`];
        return { number, node, addresses, weight: 1 };
      }),
    });
  table.set({
    key: "shop/app",
    names: [],
    addresses: [{ address: "10.30.1.0", policy: "instance", instance: 0 }],
    instances: [{ number: 0, node: "a", addresses: ["10.18.0.2"], weight: 1 }],
  });
  const peerOf = (node: string): Peer => {
    const peer = peers.get(node);
    if (peer === undefined) throw new Error(`no peer ${node}`);
    return peer;
  };
  const out = (spec: PacketSpec, nowMs = 0) => {
    const bytes = packetOf(spec);
    const verdict = router.fromLocal(viewOf(bytes), 0, bytes.length, false, nowMs);
    return seen(bytes, typeof verdict === "string" ? verdict : verdict.node);
  };
  const back = (node: string, spec: PacketSpec) => {
    const bytes = packetOf(spec);
    return seen(bytes, router.fromPeer(peerOf(node), viewOf(bytes), 0, bytes.length, false, 0));
  };
  return { table, router, serve, peerOf, out, back };
}

function seen(bytes: Buffer, to: string) {
  expect(hasRightChecksums(bytes)).toBe(true);
  const packet = new IpPacket();
  packet.parse(viewOf(bytes), 0, bytes.length);
  const { isV6, s0, s1, s2, s3, d0, d1, d2, d3, ports } = packet;
  return {
    to,
    source: ipOfWords({ isV6, w0: s0, w1: s1, w2: s2, w3: s3 }),
    destination: ipOfWords({ isV6, w0: d0, w1: d1, w2: d2, w3: d3 }),
    ports: [ports >>> 16, ports & 0xffff],
  };
}

function call(sourcePort: number, change: Partial<PacketSpec> = {}): PacketSpec {
  const ends = { source: "10.18.0.2", destination: "10.30.0.1" };
  return { ...ends, protocol: "udp", sourcePort, destinationPort: 80, ...change };
}

test("a flow goes to one instance, new ones to the next, and answers come from the service", () => {
  const { serve, out, back } = world();
  serve("b", "c");
  expect(out(call(1))).toMatchObject({ to: "b", source: "10.18.0.2", destination: "10.18.1.9" });
  expect(out(call(2))).toMatchObject({ to: "c", destination: "10.18.2.9" });
  expect(out(call(1))).toMatchObject({ to: "b" });
  const answer = { source: "10.18.1.9", destination: "10.18.0.2", protocol: "udp" } as const;
  expect(back("b", { ...answer, sourcePort: 80, destinationPort: 1 })).toEqual({
    to: "local",
    source: "10.30.0.1",
    destination: "10.18.0.2",
    ports: [80, 1],
  });
});

test("TCP with the same ports is another flow than UDP, and echo has flows of its own", () => {
  const { serve, out } = world();
  serve("b", "c");
  const order = [call(1), call(1, { protocol: "tcp" }), call(1), call(7, { protocol: "echo" })];
  expect(order.map((spec) => out(spec).to)).toEqual(["b", "c", "b", "b"]);
});

test("a flow stays while its instance lives, and moves when it is gone", () => {
  const { serve, out } = world();
  serve("b", "c");
  expect(out(call(1)).to).toBe("b");
  serve("b", "c", "a");
  expect(out(call(1)).to).toBe("b");
  serve("c");
  expect(out(call(1)).to).toBe("c");
  serve("b", "c");
  expect(out(call(1)).to).toBe("c");
  serve();
  expect(out(call(1)).to).toBe("refused");
});

test("a new connection from the port of one that ended may go elsewhere", () => {
  const { serve, out } = world();
  serve("b", "c");
  const tcp = (tcpFlags: number) => out(call(1, { protocol: "tcp", tcpFlags })).to;
  expect([tcp(0x02), tcp(0x10), tcp(0x11), tcp(0x10), tcp(0x02)]).toEqual([
    "b",
    "b",
    "b",
    "b",
    "c",
  ]);
});

test("IPv6 the same way", () => {
  const { serve, out, back } = world();
  serve("b");
  const ends = { source: "fc00::2", destination: "fdff:2000::1" };
  expect(out(call(5, ends))).toMatchObject({ to: "b", destination: "fc00::109" });
  const answer = { source: "fc00::109", destination: "fc00::2", protocol: "udp" } as const;
  expect(back("b", { ...answer, sourcePort: 80, destinationPort: 5 })).toMatchObject({
    source: "fdff:2000::1",
  });
});

test("a local server sees the client by the address that means it, or by the one for all", () => {
  const { serve, out } = world();
  serve("a");
  const there = out(call(1));
  expect(there).toMatchObject({ to: "local", source: "10.30.1.0", destination: "10.18.0.9" });
  const answer = { source: "10.18.0.9", destination: "10.30.1.0", protocol: "udp" } as const;
  expect(out({ ...answer, sourcePort: 80, destinationPort: 1 })).toEqual({
    to: "local",
    source: "10.30.0.1",
    destination: "10.18.0.2",
    ports: [80, 1],
  });
  const others = ["10.18.0.3", "10.18.0.4"].map((source) => out(call(1, { source })));
  expect(others.map(({ source }) => source)).toEqual(["10.30.255.254", "10.30.255.254"]);
  // Both came from port 1: the second has another one there, and its own again on the way back.
  const [first, second] = others.map(({ ports }) => ports[0]);
  expect(first).toBe(1);
  expect(second).not.toBe(1);
  const toSecond = { source: "10.18.0.9", destination: "10.30.255.254", protocol: "udp" } as const;
  expect(out({ ...toSecond, sourcePort: 80, destinationPort: second ?? 0 })).toMatchObject({
    source: "10.30.0.1",
    destination: "10.18.0.4",
    ports: [80, 1],
  });
});

test("one port to two addresses of a service: the answers of each come from where it called", () => {
  const { serve, out, back } = world();
  serve("b");
  const ports = ["10.30.0.1", "10.30.0.2"].map(
    (destination) => out(call(1, { destination })).ports[0] ?? 0,
  );
  const sources = ports.map((port) => {
    const ends = { source: "10.18.1.9", destination: "10.18.0.2", protocol: "udp" } as const;
    return back("b", { ...ends, sourcePort: 80, destinationPort: port });
  });
  expect(sources.map(({ source }) => source)).toEqual(["10.30.0.1", "10.30.0.2"]);
  expect(sources.map(({ ports: [, to] }) => to)).toEqual([1, 1]);
});

test("a peer of the first kind sees clients by the addresses that mean them", () => {
  const { serve, out, back, router } = world();
  serve("old");
  expect(out(call(1))).toMatchObject({ to: "old", source: "10.30.1.0", destination: "10.18.3.9" });
  const answer = { source: "10.30.0.9", destination: "10.18.0.2", protocol: "udp" } as const;
  const ports = { sourcePort: 80, destinationPort: 1 };
  expect(back("old", { ...answer, ...ports })).toMatchObject({ to: "local", source: "10.30.0.1" });
  expect(back("b", { ...answer, ...ports }).to).toBe("dropped");
  expect(router.counts.forgedSource).toBe(1);
});

test("a packet with another's source is dropped, and one that is not for us is not passed on", () => {
  const { back, router } = world();
  const ends = { destination: "10.18.0.3", protocol: "udp" } as const;
  expect(back("b", { ...ends, source: "10.18.1.5" }).to).toBe("local");
  for (const source of ["10.18.2.5", "10.18.0.3", "8.8.8.8"]) {
    expect(back("b", { ...ends, source }).to).toBe("dropped");
  }
  expect(back("b", { ...ends, source: "10.18.1.5", destination: "10.18.2.5" }).to).toBe("dropped");
  expect(router.counts).toMatchObject({ forgedSource: 3, notForUs: 1 });
});

test("an address in the range of services that is not known is told; others have no way", () => {
  const { out, router } = world();
  expect(out(call(1, { destination: "10.30.7.7" })).to).toBe("unknown");
  expect(router.unknown).toBe("10.30.7.7");
  expect(out(call(1, { destination: "8.8.8.8" })).to).toBe("dropped");
  expect(out(call(1, { destination: "10.18.2.7" })).to).toBe("c");
});

test("later fragments go where the first one went, and without it nowhere", () => {
  const { serve, router } = world();
  serve("b");
  const fragment = (id: number, word: number) => {
    const bytes = packetOf(call(1, { payload: Buffer.alloc(64) }));
    bytes.writeUInt16BE(id, 4);
    bytes.writeUInt16BE(word, 6);
    const verdict = router.fromLocal(viewOf(bytes), 0, bytes.length, false, 0);
    return [typeof verdict === "string" ? verdict : verdict.node, bytes.readUInt32BE(16)];
  };
  const server = 0x0a120109;
  expect(fragment(5, 0x2000)).toEqual(["b", server]);
  expect(fragment(5, 0x0008)).toEqual(["b", server]);
  expect(fragment(6, 0x0008)[0]).toBe("dropped");
  expect(router.counts.lostFragment).toBe(1);
});

test("later fragments of IPv6 follow the first one, which alone tells what comes behind further headers", () => {
  const { serve, router } = world();
  serve("b");
  const whole = packetOf(call(1, { source: "fc00::2", destination: "fdff:2000::1" }));
  const fragment = (word: number) => {
    // A fragment header, and in the first piece options for the destination, before UDP.
    const header = Buffer.from([60, 0, 0, 0, 0, 0, 0, 7]);
    header.writeUInt16BE(word, 2);
    const options = Buffer.from([17, 0, 1, 4, 0, 0, 0, 0]);
    const bytes = Buffer.concat([whole.subarray(0, 40), header, options, whole.subarray(40)]);
    bytes[6] = 44;
    bytes.writeUInt16BE(bytes.length - 40, 4);
    const verdict = router.fromLocal(viewOf(bytes), 0, bytes.length, false, 0);
    return [typeof verdict === "string" ? verdict : verdict.node, bytes.readUInt16BE(38)];
  };
  expect(fragment(1)).toEqual(["b", 0x0109]);
  expect(fragment(8)).toEqual(["b", 0x0109]);
  expect(router.counts.lostFragment).toBe(0);
});

test("nothing is sent to a peer that is gone: neither the rest of a datagram nor an error", () => {
  const { serve, router, peerOf, out, back } = world();
  serve("b");
  const first = packetOf(call(1, { payload: Buffer.alloc(64) }));
  first.writeUInt16BE(0x2000, 6);
  expect(router.fromLocal(viewOf(first), 0, first.length, false, 0)).toBe(peerOf("b"));
  out(call(2));
  const answer = { source: "10.18.1.9", destination: "10.18.0.2", protocol: "udp" } as const;
  back("b", { ...answer, sourcePort: 80, destinationPort: 2 });
  peerOf("b").isGone = true;
  const later = packetOf(call(1, { payload: Buffer.alloc(64) }));
  later.writeUInt16BE(0x0008, 6);
  expect(router.fromLocal(viewOf(later), 0, later.length, false, 0)).toBe("dropped");
  // The client has closed its port meanwhile, and says so about the answer.
  const [service, client] = ["10.30.0.1", "10.18.0.2"];
  const ends = { source: service, destination: client, sourcePort: 80, destinationPort: 2 };
  const quoted = packetOf({ ...ends, protocol: "udp" });
  const error = Buffer.concat([
    packetOf({ source: client, destination: service, protocol: "echo" }).subarray(0, 28),
    quoted,
  ]);
  error.writeUInt16BE(error.length, 2);
  error.writeUInt16BE(0x0303, 20);
  expect(router.fromLocal(viewOf(error), 0, error.length, false, 0)).toBe("dropped");
});

test("an instance on a node that nobody knows is passed over", () => {
  const { table, serve, out } = world();
  serve("b", "c");
  const [web] = table.services().filter(({ key }) => key === "shop/web");
  const lost = { number: 9, node: "lost", addresses: ["10.18.9.9"], weight: 1 };
  if (web !== undefined) table.set({ ...web, instances: [lost, ...web.instances] });
  expect([1, 2, 3, 4].map((port) => out(call(port)).to)).toEqual(["b", "c", "b", "c"]);
});

test("garbage is counted", () => {
  const { router } = world();
  const bytes = new Uint8Array(40).fill(0xff);
  expect(router.fromLocal(viewOf(bytes), 0, 40, false, 0)).toBe("dropped");
  expect(router.counts.malformed).toBe(1);
});
