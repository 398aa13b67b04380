import { expect, test } from "vitest";
import type { TableRow } from "../environment/route-table.ts";
import type { EdgeService } from "../table/service-table.ts";
import { mergeServices } from "./merge-services.ts";

const ROW: TableRow = {
  appName: "web",
  instanceNumber: 0,
  nodeIp: "192.0.2.1",
  nodePort: 50_103,
  nsAddress: "10.18.0.2",
  nsAddressv6: "fc00::2",
  serviceIps: [
    { type: "RR", address: "10.30.0.1" },
    { type: "InstanceNumber", address: "10.30.0.3" },
  ],
  isLocal: true,
};

const REMOTE: EdgeService = {
  key: "default/web",
  names: ["web"],
  addresses: [
    { address: "10.30.0.1", policy: "round-robin", instance: -1 },
    { address: "10.30.0.4", policy: "instance", instance: 1 },
  ],
  instances: [
    { number: 0, node: "a", addresses: ["10.18.0.9"], weight: 1 },
    { number: 1, node: "b", addresses: ["10.18.1.2"], weight: 3 },
  ],
};

test("what runs here is the node's own word, what runs elsewhere the manager's", () => {
  expect(mergeServices("a", [ROW], [REMOTE])).toEqual([
    {
      key: "default/web",
      names: ["web"],
      addresses: [
        { address: "10.30.0.1", policy: "round-robin", instance: -1 },
        { address: "10.30.0.3", policy: "instance", instance: 0 },
        { address: "10.30.0.4", policy: "instance", instance: 1 },
      ],
      instances: [
        { number: 0, node: "a", addresses: ["10.18.0.2", "fc00::2"], weight: 1 },
        { number: 1, node: "b", addresses: ["10.18.1.2"], weight: 3 },
      ],
    },
  ]);
});

test("an instance that the manager still has here, and that is gone, is gone", () => {
  const [service] = mergeServices("a", [], [REMOTE]);
  expect(service?.instances.map(({ node }) => node)).toEqual(["b"]);
});

test("without a manager a service has its plain name, and the one with its namespace", () => {
  expect(mergeServices("a", [ROW], [])).toMatchObject([{ names: ["web", "web.default"] }]);
});
