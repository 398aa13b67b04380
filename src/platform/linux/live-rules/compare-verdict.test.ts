import { expect, test } from "vitest";
import { endpointSchema } from "../../../core/model/endpoint.ts";
import type { Candidate, Verdict } from "../../../core/route/verdict.ts";
import { compareWithVerdict } from "./compare-verdict.ts";
import type { LiveEnd, LiveOutcome } from "./walk-ruleset.ts";

const COMMON = { reasons: [], others: [] } as const;
const MATCHED = { type: "cluster-ip", service: "default/web", port: undefined } as const;

function candidate(address: string, probability: number, masquerade = false): Candidate {
  const endpoint = endpointSchema.parse({
    kind: "Endpoint",
    name: `web-${address}`,
    group: "web",
    addresses: [address],
  });
  return { endpoint, address, targetPort: 80, probability, masquerade };
}

function toEndpoints(...candidates: readonly Candidate[]): Verdict {
  return { kind: "endpoints", matched: MATCHED, candidates, ...COMMON };
}

function outcome(end: LiveEnd, probability: number): LiveOutcome {
  return { end, probability, trace: [], unknown: [] };
}

function toAddress(address: string, probability: number, masquerade = false): LiveOutcome {
  return outcome({ kind: "endpoint", address, port: 80, masquerade }, probability);
}

test.each([
  [0.0009, []],
  [-0.0009, []],
  [
    0.0011,
    [
      "10.1.0.1:80: 50.1 %, where the reference says 50 %",
      "10.1.0.2:80: 49.9 %, where the reference says 50 %",
    ],
  ],
  [
    -0.0011,
    [
      "10.1.0.1:80: 49.9 %, where the reference says 50 %",
      "10.1.0.2:80: 50.1 %, where the reference says 50 %",
    ],
  ],
] as const)("shares that tools rounded are equal up to a thousandth: %d", (more, differences) => {
  const verdict = toEndpoints(candidate("10.1.0.1", 0.5), candidate("10.1.0.2", 0.5));
  const outcomes = [toAddress("10.1.0.1", 0.5 + more), toAddress("10.1.0.2", 0.5 - more)];
  expect(compareWithVerdict(outcomes, verdict)).toEqual(differences);
});

test("of 20 endpoints one element that leads to another is told", () => {
  const addresses = Array.from({ length: 20 }, (_, index) => `10.1.0.${index + 1}`);
  const verdict = toEndpoints(...addresses.map((address) => candidate(address, 1 / 20)));
  const outcomes = addresses.map((address) => toAddress(address, 1 / 20));
  expect(compareWithVerdict(outcomes, verdict)).toEqual([]);
  expect(compareWithVerdict(outcomes.with(7, toAddress("10.9.9.9", 1 / 20)), verdict)).toEqual([
    "10.1.0.8:80: 0 %, where the reference says 5 %",
    "10.9.9.9:80: 5 %, where the reference says 0 %",
  ]);
  expect(compareWithVerdict(outcomes.with(7, toAddress("10.1.0.1", 1 / 20)), verdict)).toEqual([
    "10.1.0.1:80: 10 %, where the reference says 5 %",
    "10.1.0.8:80: 0 %, where the reference says 5 %",
  ]);
});

test("ways that come to one end are one share, and who masquerades is another end", () => {
  const verdict = toEndpoints(candidate("10.1.0.1", 1));
  const halves = [toAddress("10.1.0.1", 0.5), toAddress("10.1.0.1", 0.5)];
  expect(compareWithVerdict(halves, verdict)).toEqual([]);
  expect(compareWithVerdict([toAddress("10.1.0.1", 1, true)], verdict)).toEqual([
    "10.1.0.1:80: 0 %, where the reference says 100 %",
    "10.1.0.1:80 masqueraded: 100 %, where the reference says 0 %",
  ]);
});

test("what goes to no endpoint is compared by how it ends", () => {
  const drop: Verdict = { kind: "drop", matched: MATCHED, ...COMMON };
  const reject: Verdict = { kind: "reject", matched: MATCHED, ...COMMON };
  const notOurs: Verdict = { kind: "not-ours", ...COMMON };
  expect(compareWithVerdict([outcome({ kind: "drop" }, 1)], drop)).toEqual([]);
  expect(compareWithVerdict([outcome({ kind: "untouched" }, 1)], notOurs)).toEqual([]);
  expect(compareWithVerdict([outcome({ kind: "drop" }, 1)], reject)).toEqual([
    "reject: 0 %, where the reference says 100 %",
    "drop: 100 %, where the reference says 0 %",
  ]);
});
