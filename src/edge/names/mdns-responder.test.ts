import { decode, encode, type Packet, type Question } from "dns-packet";
import { expect, test } from "vitest";
import type { NamedService } from "../table/name-meaning.ts";
import { EdgeNames } from "./edge-names.ts";
import { MDNS_PORT, MdnsResponder } from "./mdns-responder.ts";

const WEB: NamedService = {
  addresses: [
    { address: "10.30.0.1", policy: "round-robin", instance: -1 },
    { address: "fdff::1", policy: "round-robin", instance: -1 },
  ],
  instances: [{ number: 0, addresses: ["10.18.0.66"], ports: [{ protocol: "tcp", port: 80 }] }],
};
const BIG: NamedService = {
  addresses: [],
  instances: Array.from({ length: 60 }, (_, number) => ({
    ...{ number, addresses: [`10.18.1.${number}`] },
  })),
};
const LONG_NAME = `${"x".repeat(60)}.big`;

function responder(): MdnsResponder {
  const services = new Map([
    ["web", WEB],
    [LONG_NAME, BIG],
  ]);
  return new MdnsResponder(new EdgeNames({ serviceNamed: (name) => services.get(name) }));
}

function query(questions: readonly Question[], more: Partial<Packet> = {}): Buffer {
  return encode({ type: "query", id: 7, questions: [...questions], ...more });
}

const A: Question = { type: "A", name: "Web.local" };

test("all on the link hear the answer; it has no id and no question, and others forget what they knew", () => {
  const reply = responder().answer(query([A]), MDNS_PORT, 0);
  expect(reply?.to).toBe("link");
  const { id, flag_aa, questions, answers } = decode(reply?.bytes ?? Buffer.alloc(0));
  expect({ id, flag_aa, questions }).toEqual({ id: 0, flag_aa: true, questions: [] });
  expect(answers).toEqual([
    { type: "A", class: "IN", flush: true, name: "Web.local", ttl: 5, data: "10.30.0.1" },
  ]);
});

test("several questions have one answer; what nobody here knows is not mentioned", () => {
  const asked = [
    A,
    { type: "AAAA", name: "rr.web.local" },
    { type: "A", name: "x.local" },
  ] as const;
  const reply = responder().answer(query(asked), MDNS_PORT, 0);
  const names = decode(reply?.bytes ?? Buffer.alloc(0)).answers?.map(({ name }) => name);
  expect(names).toEqual(["Web.local", "rr.web.local"]);
});

test("whoever asks for it is answered alone", () => {
  const bytes = query([A]);
  bytes.writeUInt16BE(0x8001, bytes.length - 2);
  expect(responder().answer(bytes, MDNS_PORT, 0)?.to).toBe("sender");
});

test.each([
  [3, 0],
  [2, 1],
])("an address that the asking one knows for %i seconds is told %i times", (ttl, count) => {
  const known = { type: "A", name: "web.local", ttl, data: "10.30.0.1" } as const;
  const reply = responder().answer(query([A], { answers: [known] }), MDNS_PORT, 0);
  expect(reply === undefined ? 0 : 1).toBe(count);
});

test("the same is told to all once a second at most", () => {
  const one = responder();
  const told = [0, 999, 1000].map((nowMs) => one.answer(query([A]), MDNS_PORT, nowMs)?.to);
  expect(told).toEqual(["link", undefined, "link"]);
});

test("a program that asks from another port gets what a DNS server would answer", () => {
  const reply = responder().answer(query([A]), 40_000, 0);
  expect(reply?.to).toBe("sender");
  expect(decode(reply?.bytes ?? Buffer.alloc(0))).toMatchObject({
    id: 7,
    questions: [{ name: "Web.local" }],
    answers: [{ type: "A", data: "10.30.0.1", flush: false }],
  });
});

test.each(["web", "x.local", "web.example"])("of %s it is silent, on both ports", (name) => {
  for (const port of [MDNS_PORT, 40_000]) {
    expect(responder().answer(query([{ type: "A", name }]), port, 0)).toBeUndefined();
  }
});

test("more addresses than fit into a packet: some of them, and nobody forgets the others", () => {
  const question: Question = { type: "A", name: `${LONG_NAME}.local` };
  const { bytes = Buffer.alloc(0) } = responder().answer(query([question]), MDNS_PORT, 0) ?? {};
  const { answers = [] } = decode(bytes);
  expect(bytes.length).toBeLessThanOrEqual(1232);
  expect(answers.length).toBeGreaterThan(4);
  expect(answers.some((answer) => "flush" in answer && answer.flush)).toBe(false);
});

test("SRV comes with the addresses of its targets", () => {
  const question: Question = { type: "SRV", name: "_http._tcp.web.local" };
  const { bytes = Buffer.alloc(0) } = responder().answer(query([question]), MDNS_PORT, 0) ?? {};
  const { answers, additionals } = decode(bytes);
  expect(answers).toMatchObject([{ data: { port: 80, target: "0.web.local" } }]);
  expect(additionals).toMatchObject([{ name: "0.web.local", data: "10.18.0.66" }]);
});

test("packets that are cut anywhere have no answer", () => {
  const bytes = query([A]);
  for (let length = 0; length < bytes.length; length += 1) {
    for (const port of [MDNS_PORT, 40_000]) {
      expect(responder().answer(bytes.subarray(0, length), port, 0)).toBeUndefined();
    }
  }
});
