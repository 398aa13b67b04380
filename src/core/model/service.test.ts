import { expect, test } from "vitest";
import { parseKind } from "./parse.ts";
import { groupsOf, isExternallyReachable, sourceRangesFor } from "./service.ts";

const serviceWith = (fields: object) => parseKind("Service", { name: "web", ...fields });

test("a service without groups has the one of its own name", () => {
  expect(groupsOf(serviceWith({})).map((ref) => ref.group)).toEqual(["default/web"]);
  const named = serviceWith({ groups: [{ group: "default/api" }] });
  expect(groupsOf(named).map((ref) => ref.group)).toEqual(["default/api"]);
});

test.each([
  [{ clusterIPs: ["10.0.0.1"] }, false],
  [{ externalIPs: ["192.0.2.1"] }, true],
  [{ loadBalancerIPs: ["192.0.2.1"] }, true],
  [{ ports: [{ port: 80, nodePort: 30080 }] }, true],
])("externally reachable %j: %s", (fields, expected) => {
  expect(isExternallyReachable(serviceWith(fields))).toBe(expected);
});

test("source ranges are of the address's family, and /0 means everyone", () => {
  const service = serviceWith({ sourceRanges: ["10.0.0.0/8", "fd00::/8", "::/0"] });
  expect(sourceRangesFor(service, "192.0.2.1")).toEqual(["10.0.0.0/8"]);
  expect(sourceRangesFor(service, "fd00::1")).toEqual([]);
});
