import { encode } from "dns-packet";
import { expect, test } from "vitest";
import { type DnsQuery, readDnsQuery } from "../../wire/dns/dns-query.ts";
import { type DnsResponse, readDnsResponse } from "../../wire/dns/dns-response.ts";
import { DnsCache } from "./dns-cache.ts";

function queryOf(name: string): DnsQuery {
  const outcome = readDnsQuery(encode({ type: "query", id: 1, questions: [{ type: "A", name }] }));
  if (outcome.kind !== "query") throw new Error("not a query");
  return outcome.query;
}

function responseOf(name: string, ttl: number): DnsResponse {
  const bytes = encode({
    type: "response",
    id: 1,
    questions: [{ type: "A", name }],
    answers: [{ type: "A", name, ttl, data: "192.0.2.1" }],
  });
  const response = readDnsResponse(bytes, 1, queryOf(name).question);
  if (response === undefined) throw new Error("not a response");
  return response;
}

test("an answer is kept as long as it holds, whatever letters it is asked for with", () => {
  const cache = new DnsCache(10);
  cache.note(queryOf("a.example"), responseOf("a.example", 10), 1000);
  expect(cache.find(queryOf("A.Example"), 4500)).toMatchObject({ ageSeconds: 3 });
  expect(cache.find(queryOf("b.example"), 4500)).toBeUndefined();
  expect(cache.find(queryOf("a.example"), 11_000)).toBeUndefined();
});

test("what may not be kept is not; nothing is kept for longer than an hour", () => {
  const cache = new DnsCache(10);
  cache.note(queryOf("a.example"), responseOf("a.example", 0), 0);
  cache.note(queryOf("b.example"), responseOf("b.example", 1_000_000), 0);
  expect(cache.find(queryOf("a.example"), 0)).toBeUndefined();
  expect(cache.entries(0)).toEqual([
    {
      name: "b.example",
      type: 1,
      rcode: 0,
      answers: 1,
      addresses: ["192.0.2.1"],
      leftSeconds: 3600,
    },
  ]);
  expect(cache.entries(3_600_000)).toEqual([]);
});

test("a name can be forgotten", () => {
  const cache = new DnsCache(10);
  for (const name of ["a", "B"]) cache.note(queryOf(name), responseOf(name, 60), 0);
  expect([cache.drop("b"), cache.drop("b")]).toEqual([true, false]);
  expect(cache.entries(0).map(({ name }) => name)).toEqual(["a"]);
});

test("the one that was asked for longest ago makes room", () => {
  const cache = new DnsCache(2);
  for (const name of ["a", "b"]) cache.note(queryOf(name), responseOf(name, 60), 0);
  cache.find(queryOf("a"), 1);
  cache.note(queryOf("c"), responseOf("c", 60), 2);
  expect(cache.entries(3).map(({ name }) => name)).toEqual(["a", "c"]);
});
