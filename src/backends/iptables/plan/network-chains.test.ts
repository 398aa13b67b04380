import { expect, test } from "vitest";
import { CLUSTER_IPS, SERVICES } from "../../kube-chains.ts";
import { Networks } from "./network-chains.ts";

test("an address stands in two networks of its family, what is larger than both in none", () => {
  const networks = new Networks();
  expect(networks.around("10.96.17.5/32")).toEqual(["10.96.16.0/20", "10.96.17.0/24"]);
  expect(networks.around("10.96.17.0/24")).toEqual(["10.96.16.0/20", "10.96.17.0/24"]);
  expect(networks.around("10.96.0.0/16")).toEqual([]);
  expect(networks.around("fd00::1234/128")).toEqual(["fd00::1000/116", "fd00::1200/120"]);
});

test("a network has a chain for each that leads to it, which is worked out once", () => {
  const networks = new Networks();
  const branch = networks.branchOf(SERVICES, "10.96.0.0/20");
  expect(branch.way).toMatch(/^-d 10\.96\.0\.0\/20 -j KUBE-SVC-0\w+$/);
  expect(branch.chain).toMatch(/^nat KUBE-SVC-0/);
  expect(networks.branchOf(SERVICES, "10.96.0.0/20")).toBe(branch);
  expect(networks.branchOf(CLUSTER_IPS, "10.96.0.0/20").chain).toMatch(/^filter KUBE-CIP-/);
  expect(networks.around("10.96.0.1/32")).toBe(networks.around("10.96.0.1/32"));
});
