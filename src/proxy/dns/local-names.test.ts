import { encode } from "dns-packet";
import { describe, expect, test } from "vitest";
import { readDnsQuery } from "../../wire/dns/dns-query.ts";
import type { DnsQuestion } from "../../wire/dns/dns-question.ts";
import { TYPES } from "../../wire/dns/dns-words.ts";
import { ServerGroup } from "../server-group.ts";
import { parseAddressLabel, renderAddressLabel } from "./address-label.ts";
import { LocalNames } from "./local-names.ts";

const ASKING = { client: "192.0.2.1", nowMs: 0 };

function question(name: string, type: "A" | "AAAA" | "SRV" | "TXT" | "ANY"): DnsQuestion {
  // The library knows no such type to ask for.
  const known = type === "ANY" ? "A" : type;
  const outcome = readDnsQuery(encode({ type: "query", questions: [{ type: known, name }] }));
  if (outcome.kind !== "query") throw new Error("not a query");
  const { question: read } = outcome.query;
  return type === "ANY" ? { ...read, type: TYPES.ANY } : read;
}

function groupOf(...ips: readonly string[]): ServerGroup {
  const group = new ServerGroup({ method: "round-robin", random: () => 0, startsHealthy: true });
  for (const ip of ips) group.put({ id: ip, port: 8080, weight: 3, addresses: [ip] }, 0);
  return group;
}

function namesOf(group: ServerGroup, hosts: Readonly<Record<string, readonly string[]>> = {}) {
  return new LocalNames({ hosts: new Map(Object.entries(hosts)), ttlSeconds: 5 }, () => ({
    hosts: ["a.example", "*.w.example"],
    groupNamed: (host) => {
      const name = host.toLowerCase();
      return name === "a.example" || name.endsWith(".w.example") ? group : undefined;
    },
  }));
}

function told(names: LocalNames, name: string, type: Parameters<typeof question>[1]) {
  const answer = names.answer(question(name, type), ASKING);
  const data = answer?.answers.map((record) => ("data" in record ? record.data : undefined));
  return answer && { rcode: answer.rcode, data };
}

describe("groups", () => {
  test("all servers of the family, each first in turn; the letters of the question stay", () => {
    const names = namesOf(groupOf("10.0.0.1", "10.0.0.2", "fd00::1"));
    const first = new Set<unknown>();
    for (let turn = 0; turn < 2; turn += 1) {
      const { data } = told(names, "A.Example", "A") ?? {};
      expect(data?.toSorted()).toEqual(["10.0.0.1", "10.0.0.2"]);
      first.add(data?.[0]);
      // Dual-stack clients always ask for both: that must not take turns away.
      expect(told(names, "a.example", "AAAA")?.data).toEqual(["fd00::1"]);
      expect(told(names, "a.example", "TXT")).toEqual({ rcode: "NOERROR", data: [] });
    }
    expect(first.size).toBe(2);
    const answer = names.answer(question("A.Example", "A"), ASKING);
    expect(answer?.answers[0]).toMatchObject({ name: "A.Example", ttl: 5 });
  });

  test("only servers that are up; where none is, that is a failure and not an empty answer", () => {
    const group = groupOf("10.0.0.1", "10.0.0.2");
    const names = namesOf(group);
    const [one, two] = [...group.servers()];
    if (one === undefined || two === undefined) throw new Error("no servers");
    group.setHealthy(one, false, 0);
    expect(told(names, "x.w.example", "A")).toEqual({ rcode: "NOERROR", data: ["10.0.0.2"] });
    group.setHealthy(two, false, 0);
    expect(told(names, "x.w.example", "A")).toEqual({ rcode: "SERVFAIL", data: [] });
    expect(told(names, "x.w.example", "SRV")).toEqual({ rcode: "SERVFAIL", data: [] });
  });

  test("one that no check has judged yet is better than none", () => {
    const group = new ServerGroup({ method: "random", random: () => 0, startsHealthy: false });
    group.put({ id: "a", port: 80, weight: 1, addresses: ["10.0.0.1"] }, 0);
    expect(told(namesOf(group), "a.example", "A")?.data).toEqual(["10.0.0.1"]);
  });

  test.each(["a.example", "_http._tcp.a.example"])("SRV of %s names ports and weights", (name) => {
    const names = namesOf(groupOf("10.0.0.1", "fd00::1"));
    const answer = names.answer(question(name, "SRV"), ASKING);
    expect(answer?.answers).toHaveLength(2);
    expect(answer?.answers).toContainEqual({
      type: "SRV",
      name,
      ttl: 5,
      data: { priority: 0, weight: 3, port: 8080, target: "10-0-0-1.a.example" },
    });
    expect(answer?.additionals).toContainEqual({
      type: "AAAA",
      name: "fd00-0-0-0-0-0-0-1.a.example",
      ttl: 5,
      data: "fd00::1",
    });
    expect(told(names, "fd00-0-0-0-0-0-0-1.a.example", "AAAA")?.data).toEqual(["fd00::1"]);
    expect(told(names, "10-0-0-1.a.example", "AAAA")).toEqual({ rcode: "NOERROR", data: [] });
  });
});

describe("hosts", () => {
  const names = namesOf(groupOf("10.0.0.1"), { "a.example": ["192.0.2.7", "192.0.2.8", "::7"] });

  test("win over groups, in turns", () => {
    const first = told(names, "a.EXAMPLE", "A")?.data;
    const second = told(names, "a.example", "A")?.data;
    expect(first?.toSorted()).toEqual(["192.0.2.7", "192.0.2.8"]);
    expect(second).toEqual(first?.toReversed());
    expect(told(names, "a.example", "ANY")?.data).toHaveLength(3);
  });
});

describe("names that are not ours", () => {
  const names = namesOf(groupOf("10.0.0.1"), { "h.example": ["192.0.2.7"] });

  test.each([
    ["b.example", undefined],
    ["x.a.example", "NXDOMAIN"],
    ["x.H.example", "NXDOMAIN"],
    ["xa.example", undefined],
    ["10-0-0-9.a.example", "NXDOMAIN"],
  ])("%s", (name, rcode) => {
    expect(names.answer(question(name, "A"), ASKING)).toBeUndefined();
    expect(names.answerUnknown(question(name, "A"))?.rcode).toBe(rcode);
  });
});

test.each(["10.0.0.1", "fd00::1", "::"])("the label of %s", (ip) => {
  expect(parseAddressLabel(renderAddressLabel(ip))).toBe(ip);
});

test.each(["a", "10-0-0", "10-0-0-256", "g-0-0-0-0-0-0-0"])("%s stands for no address", (label) => {
  expect(parseAddressLabel(label)).toBeUndefined();
});
