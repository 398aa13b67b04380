import { expect, test } from "vitest";
import { ipOfWords, wordsOfIp } from "../../wire/ip/address-words.ts";
import { writePortUnreachable } from "../../wire/ip/icmp-error.ts";
import { IpPacket } from "../../wire/ip/ip-packet.ts";
import { hasRightChecksums, packetOf, viewOf } from "../../wire/ip/packets.fixture.ts";
import { ServiceTable } from "../table/service-table.ts";
import { FlowTable } from "./flow-table.ts";
import { PacketRouter, type RoutePeer, type Target } from "./packet-router.ts";
import { PrefixMap } from "./prefix-map.ts";

const B: RoutePeer = { node: "b", isGone: false, wantsServiceSources: false };
const C: RoutePeer = { node: "c", isGone: false, wantsServiceSources: false };
const FAMILIES = [
  {
    client: "10.18.0.2",
    service: "10.30.0.1",
    server: "10.18.1.9",
    hop: "10.18.1.1",
    strange: "10.18.2.9",
  },
  {
    client: "fc00::2",
    service: "fdff::1",
    server: "fc00::109",
    hop: "fc00::101",
    strange: "fc00::209",
  },
];

function world({ service, server }: (typeof FAMILIES)[number], node = "b") {
  const routes = new PrefixMap<Target<RoutePeer>>();
  for (const cidr of ["10.18.0.0/26", "fc00::/120"]) routes.add(cidr, "local");
  for (const cidr of ["10.18.1.0/26", "fc00::100/120"]) routes.add(cidr, B);
  for (const cidr of ["10.18.2.0/26", "fc00::200/120"]) routes.add(cidr, C);
  const table = new ServiceTable();
  table.set({
    key: "shop/web",
    names: [],
    addresses: [{ address: service, policy: "round-robin", instance: -1 }],
    instances: [{ number: 0, node, addresses: [server], weight: 1 }],
  });
  return new PacketRouter<RoutePeer>({
    table,
    flows: new FlowTable({ maxFlows: 10 }),
    routes,
    serviceRanges: new PrefixMap<true>(),
    observed: { roundTripMs: () => undefined },
    hairpin: { v4: wordsOfIp("10.30.255.254"), v6: wordsOfIp("fdff:ffff::1") },
    peerOf: (name) => (name === "a" ? "local" : B),
  });
}

/** The error by which the receiver of a packet refuses it. */
function refusalOf(bytes: Buffer, from?: string): Buffer {
  const packet = new IpPacket();
  packet.parse(viewOf(bytes), 0, bytes.length);
  const out = Buffer.alloc(1500);
  const length = writePortUnreachable(viewOf(bytes), 0, packet, { view: viewOf(out), at: 0 });
  const error = out.subarray(0, length);
  if (from === undefined) return error;
  // From somebody on the way: only the source of the error is another one.
  const other = packetOf({ source: from, destination: from, protocol: "udp" });
  const [at, size] = packet.isV6 ? [8, 16] : [12, 4];
  other.copy(error, at, at, at + size);
  return error;
}

function ends(bytes: Buffer) {
  const packet = new IpPacket();
  packet.parse(viewOf(bytes), 0, bytes.length);
  const { isV6, s0, s1, s2, s3, d0, d1, d2, d3, ports } = packet;
  return {
    source: ipOfWords({ isV6, w0: s0, w1: s1, w2: s2, w3: s3 }),
    destination: ipOfWords({ isV6, w0: d0, w1: d1, w2: d2, w3: d3 }),
    ports: [ports >>> 16, ports & 0xffff],
  };
}

/** What an error quotes; all of it where the packet was short. */
function quotedIn(error: Buffer): Buffer {
  return error.subarray(((error[0] ?? 0) >>> 4 === 6 ? 40 : 20) + 8);
}

test.each(FAMILIES)(
  "an error about a packet to $service comes from it, and quotes what was sent",
  (family) => {
    const { client, service, server, hop } = family;
    const router = world(family);
    const sent = packetOf({
      source: client,
      destination: service,
      protocol: "udp",
      sourcePort: 5,
      destinationPort: 80,
    });
    const original = Buffer.from(sent);
    expect(router.fromLocal(viewOf(sent), 0, sent.length, false, 0)).toBe(B);
    expect(ends(sent).destination).toBe(server);
    for (const [from, seenFrom] of [
      [server, service],
      [hop, hop],
    ] as const) {
      const error = refusalOf(sent, from);
      expect(router.fromPeer(B, viewOf(error), 0, error.length, false, 0)).toBe("local");
      expect(ends(error)).toMatchObject({ source: seenFrom, destination: client });
      expect(hasRightChecksums(error)).toBe(true);
      expect(quotedIn(error)).toEqual(original);
    }
    expect(router.counts).toMatchObject({ notForUs: 0, forgedSource: 0 });
  },
);

test.each(FAMILIES)(
  "an error of the client about an answer of $service reaches the server",
  (family) => {
    const { client, service, server } = family;
    const router = world(family);
    const sent = packetOf({
      source: client,
      destination: service,
      protocol: "udp",
      sourcePort: 5,
      destinationPort: 80,
    });
    router.fromLocal(viewOf(sent), 0, sent.length, false, 0);
    const answer = packetOf({
      source: server,
      destination: client,
      protocol: "udp",
      sourcePort: 80,
      destinationPort: 5,
    });
    const original = Buffer.from(answer);
    router.fromPeer(B, viewOf(answer), 0, answer.length, false, 0);
    const error = refusalOf(answer);
    expect(ends(error)).toMatchObject({ source: client, destination: service });
    expect(router.fromLocal(viewOf(error), 0, error.length, false, 0)).toBe(B);
    expect(ends(error)).toMatchObject({ source: client, destination: server });
    expect(hasRightChecksums(error)).toBe(true);
    expect(quotedIn(error)).toEqual(original);
  },
);

test.each(FAMILIES)("an error of a local server of $service reaches the local client", (family) => {
  const { client, service } = family;
  const server = client.replace(/2$/, "9");
  const router = world({ ...family, server }, "a");
  const sent = packetOf({
    source: client,
    destination: service,
    protocol: "udp",
    sourcePort: 5,
    destinationPort: 80,
  });
  const original = Buffer.from(sent);
  expect(router.fromLocal(viewOf(sent), 0, sent.length, false, 0)).toBe("local");
  const error = refusalOf(sent);
  expect(router.fromLocal(viewOf(error), 0, error.length, false, 0)).toBe("local");
  expect(ends(error)).toMatchObject({ source: service, destination: client });
  expect(hasRightChecksums(error)).toBe(true);
  expect(quotedIn(error)).toEqual(original);
});

test.each(FAMILIES)("nobody else has anything to say about packets to $service", (family) => {
  const { client, service, strange } = family;
  const router = world(family);
  const sent = packetOf({
    source: client,
    destination: service,
    protocol: "udp",
    sourcePort: 5,
    destinationPort: 80,
  });
  router.fromLocal(viewOf(sent), 0, sent.length, false, 0);
  const error = refusalOf(sent, strange);
  const before = Buffer.from(error);
  router.fromPeer(C, viewOf(error), 0, error.length, false, 0);
  expect(error).toEqual(before);
});

test.each(FAMILIES)("errors that quote little or nonsense change nothing", (family) => {
  const router = world(family);
  const sent = packetOf({ source: family.client, destination: family.service, protocol: "tcp" });
  router.fromLocal(viewOf(sent), 0, sent.length, false, 0);
  const whole = refusalOf(sent);
  const header = whole.length - sent.length;
  for (let kept = 0; kept < sent.length; kept += 1) {
    const error = Buffer.from(whole.subarray(0, header + kept));
    if (family.client.includes(":")) error.writeUInt16BE(error.length - 40, 4);
    else error.writeUInt16BE(error.length, 2);
    router.fromPeer(B, viewOf(error), 0, error.length, false, 0);
  }
  expect(router.counts.malformed).toBe(0);
});
