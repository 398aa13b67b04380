import { expect, test } from "vitest";
import type { EdgeService } from "../../edge/table/service-table.ts";
import { meaningNow } from "./live-table.ts";

const leads = [{ protocol: "tcp", port: 80, target: 8080 }] as const;
const WEB: EdgeService = {
  key: "default/web",
  names: [],
  addresses: [
    { address: "10.30.0.1", policy: "round-robin", instance: -1 },
    { address: "10.30.0.2", policy: "closest", instance: -1 },
    { address: "10.30.0.3", policy: "instance", instance: 1 },
  ],
  instances: [
    { number: 0, node: "b", addresses: ["10.18.0.66"], weight: 1, leads },
    { number: 1, node: "c", addresses: ["10.18.0.130"], weight: 1, leads },
    { number: 2, node: "c", addresses: ["10.18.0.131"], weight: 0, leads },
  ],
};
const FACTS = { nodeName: "a", services: [WEB], roundTripMs: new Map([["c", 3]]) };
const ask = (dst: string, dstPort = 80) => meaningNow({ dst, protocol: "TCP", dstPort }, FACTS);

test("whom an address means at this moment, by its policy", () => {
  expect(ask("10.30.0.1").candidates).toEqual(["10.18.0.66:8080", "10.18.0.130:8080"]);
  expect(ask("10.30.0.2").candidates).toEqual(["10.18.0.130:8080"]);
  expect(ask("10.30.0.3").lines).toEqual([
    "the tunnel: 10.30.0.3 is default/web, instance 1, with 3 instances",
    "- instance 0 at 10.18.0.66:8080, on b, not measured yet, weight 1",
    "* instance 1 at 10.18.0.130:8080, on c, 3.00 ms away, weight 1",
    "- instance 2 at 10.18.0.131:8080, on c, 3.00 ms away, weight 0",
  ]);
});

test("a port that nobody serves, and an address that nobody has", () => {
  expect(ask("10.30.0.1", 81).candidates).toEqual([]);
  expect(ask("10.30.0.9").candidates).toBeUndefined();
});
