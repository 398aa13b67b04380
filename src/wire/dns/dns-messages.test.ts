import { decode, encode, type OptAnswer, type Packet } from "dns-packet";
import { describe, expect, test } from "vitest";
import { seededBytes } from "../../../test/support/seeded-random.ts";
import { type DnsQuery, readDnsQuery } from "./dns-query.ts";
import { renderDnsReply, renderProblem } from "./dns-reply.ts";
import { renderDnsRequest } from "./dns-request.ts";
import { type DnsResponse, readDnsResponse, repeatResponse } from "./dns-response.ts";

const OPT: OptAnswer = {
  type: "OPT",
  name: ".",
  udpPayloadSize: 4096,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0x8000,
  flag_do: true,
  options: [],
};

function queryOf(name: string, more: Partial<Packet> = {}): Buffer {
  const questions = [{ type: "A", name }] as const;
  return encode({ type: "query", id: 7, flags: 0x0100, questions: [...questions], ...more });
}

function read(bytes: Buffer): DnsQuery {
  const outcome = readDnsQuery(bytes);
  if (outcome.kind !== "query") throw new Error(JSON.stringify(outcome));
  return outcome.query;
}

const REPLY = { rcode: "NOERROR", isAuthoritative: true, canRecurse: false } as const;

describe("queries", () => {
  test("the question as it was written, and what is wanted", () => {
    const query = read(queryOf("A.Example"));
    expect(query).toMatchObject({ id: 7, wantsRecursion: true, maxUdpBytes: 512 });
    expect(query).toMatchObject({ question: { name: "A.Example", type: 1, class: 1 } });
    expect(query.extension).toBeUndefined();
  });

  test("what EDNS says, but never more than passes everywhere", () => {
    const query = read(queryOf("a", { additionals: [OPT] }));
    expect(query).toMatchObject({ extension: { version: 0, wantsSignatures: true } });
    expect(query.maxUdpBytes).toBe(1232);
  });

  test("the root, and labels with dots in them", () => {
    expect(read(queryOf(".")).question.name).toBe("");
    const bytes = queryOf("a-b");
    bytes[14] = 0x2e;
    expect(read(bytes).question.name).toBe("a\\.b");
  });

  test.each([
    ["too short", Buffer.alloc(11), { kind: "noise" }],
    ["an answer", renderProblem(7, "REFUSED"), { kind: "noise" }],
    ["another opcode", queryOf("a", { flags: 0x2000 }), { rcode: "NOTIMP", id: 7 }],
    ["no question", encode({ type: "query", id: 7 }), { rcode: "FORMERR", id: 7 }],
    ["cut off", queryOf("a.example").subarray(0, 20), { rcode: "FORMERR" }],
    ["records that are not there", withCount(queryOf("a")), { rcode: "FORMERR" }],
    ["a pointer", withPointer(queryOf("a")), { rcode: "FORMERR" }],
  ])("%s", (_name, bytes, outcome) => {
    expect(readDnsQuery(bytes)).toMatchObject(outcome);
  });

  test("random bytes, and queries with random bytes in them, never throw", () => {
    const noise = seededBytes(31, 20_000);
    for (let start = 0; start < noise.length; start += 7) {
      const part = noise.subarray(start, start + (start % 61));
      readDnsQuery(Buffer.from(part));
      const query = Buffer.concat([queryOf("abc.example").subarray(0, 12 + (start % 17)), part]);
      readDnsQuery(query);
      query.writeUInt16BE(0x8180, 2);
      readDnsResponse(query, 7, read(queryOf("abc.example")).question);
    }
    expect(readDnsQuery(noise).kind).toBe("noise");
  });

  test("cut at every place they ask for nothing wrong", () => {
    const whole = queryOf("abc.example", { additionals: [OPT] });
    for (let length = 0; length < whole.length; length += 1) {
      expect(readDnsQuery(whole.subarray(0, length)).kind).not.toBe("query");
    }
  });
});

function withCount(bytes: Buffer): Buffer {
  bytes.writeUInt16BE(3, 6);
  return bytes;
}

function withPointer(bytes: Buffer): Buffer {
  bytes[12] = 0xc0;
  return bytes;
}

describe("replies", () => {
  const answers = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      return { type: "A", name: "A.Example", ttl: 5, data: `10.0.0.${index}` } as const;
    });

  test("the question is repeated letter by letter", () => {
    const query = read(queryOf("A.eXaMpLe"));
    const reply = decode(
      renderDnsReply(query, { ...REPLY, answers: answers(2), additionals: [] }, 512),
    );
    expect(reply).toMatchObject({ id: 7, rcode: "NOERROR", flag_aa: true, flag_ra: false });
    expect(reply.questions?.[0]?.name).toBe("A.eXaMpLe");
    expect(reply.answers).toHaveLength(2);
    expect(reply.additionals).toEqual([]);
  });

  test("what is too long is only announced", () => {
    const query = read(queryOf("a.example", { additionals: [OPT] }));
    const bytes = renderDnsReply(query, { ...REPLY, answers: answers(60), additionals: [] }, 1232);
    const reply = decode(bytes);
    expect(reply).toMatchObject({ flag_tc: true, answers: [] });
    expect(reply.additionals).toMatchObject([{ type: "OPT", udpPayloadSize: 1232 }]);
  });

  test("a code of more than four bits is told by OPT", () => {
    const query = read(queryOf("a", { additionals: [OPT] }));
    const reply = renderDnsReply(
      query,
      { ...REPLY, rcode: "BADVERS", answers: [], additionals: [] },
      512,
    );
    expect(decode(reply).additionals).toMatchObject([{ type: "OPT", extendedRcode: 1 }]);
  });
});

describe("answers of resolvers", () => {
  const query = read(queryOf("a.example"));
  const answer = (more: Partial<Packet> = {}): Buffer =>
    encode({
      type: "response",
      id: 9,
      flags: 0x0180,
      questions: [{ type: "A", name: "A.EXAMPLE" }],
      answers: [
        { type: "CNAME", name: "a.example", ttl: 300, data: "b.example" },
        { type: "A", name: "b.example", ttl: 60, data: "192.0.2.1" },
      ],
      ...more,
    });
  const readAnswer = (bytes: Buffer): DnsResponse => {
    const response = readDnsResponse(bytes, 9, query.question);
    if (response === undefined) throw new Error("not an answer");
    return response;
  };

  test("a question goes out with the letters that the client wrote", () => {
    const mixed = read(queryOf("A.eXample", { additionals: [OPT] }));
    const request = decode(renderDnsRequest(mixed, 4711));
    expect(request).toMatchObject({ id: 4711, type: "query", flag_rd: true });
    expect(request.questions).toMatchObject([{ name: "A.eXample", type: "A" }]);
    expect(request.additionals).toMatchObject([{ type: "OPT", flag_do: true }]);
  });

  test("only what repeats id and question is one", () => {
    expect(readAnswer(answer())).toMatchObject({ rcode: 0, ttlSeconds: 60, isTruncated: false });
    expect(readDnsResponse(answer(), 8, query.question)).toBeUndefined();
    const other = answer({ questions: [{ type: "A", name: "b.example" }] });
    expect(readDnsResponse(other, 9, query.question)).toBeUndefined();
    const type = answer({ questions: [{ type: "AAAA", name: "a.example" }] });
    expect(readDnsResponse(type, 9, query.question)).toBeUndefined();
    expect(readDnsResponse(answer().subarray(0, 40), 9, query.question)).toBeUndefined();
    expect(readDnsResponse(queryOf("a.example"), 7, query.question)).toBeUndefined();
  });

  test("is repeated for another client, older by so much", () => {
    const mixed = read(queryOf("A.eXample", { id: 77 }));
    const reply = decode(repeatResponse(readAnswer(answer()), mixed, 50));
    expect(reply).toMatchObject({ id: 77, flag_rd: true, flag_ra: true });
    expect(reply.questions?.[0]?.name).toBe("A.eXample");
    expect(reply.answers).toMatchObject([{ ttl: 250 }, { ttl: 10, data: "192.0.2.1" }]);
  });

  test.each([
    ["that there is no such name holds as the zone says", 0x0183, 90],
    ["that there is nothing of the kind, too", 0x0180, 90],
    ["a failure does not hold", 0x0182, 0],
    ["what is cut short does not hold", 0x0380, 0],
  ])("%s", (_name, flags, ttlSeconds) => {
    const data = {
      mname: "a",
      rname: "b",
      serial: 1,
      refresh: 1,
      retry: 1,
      expire: 1,
      minimum: 90,
    };
    const zone = { type: "SOA", name: "example", ttl: 3600, data } as const;
    expect(readAnswer(answer({ flags, answers: [], authorities: [zone] })).ttlSeconds).toBe(
      ttlSeconds,
    );
  });
});
