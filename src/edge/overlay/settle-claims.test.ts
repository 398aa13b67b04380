import { expect, test } from "vitest";
import { type EdgeService, ServiceTable } from "../table/service-table.ts";
import { namesOf } from "./merge-services.ts";
import { settleClaims } from "./settle-claims.ts";

function service(name: string, address: string): EdgeService {
  const key = `default/${name}`;
  return {
    ...{ key, names: namesOf(key) },
    addresses: [{ address, policy: "round-robin", instance: -1 }],
    instances: [{ number: 0, node: "a", addresses: ["10.18.0.2"], weight: 1 }],
  };
}

const CLAIMS = [
  service("Web", "10.30.0.1"),
  service("web.default", "10.30.0.2"),
  service("web", "10.30.0.3"),
  service("xyz", "10.30.0.3"),
];

test.each([
  ["as they come", CLAIMS],
  ["the other way round", [...CLAIMS].reverse()],
])("what two services claim is the same one's, and a table takes the rest: %s", (_, claims) => {
  const { services, lost } = settleClaims(claims);
  const table = new ServiceTable();
  for (const one of services) table.set(one);
  const keyOf = (name: string): string | undefined => table.serviceNamed(name)?.key;
  expect(["web", "web.default", "web.default.default", "xyz"].map(keyOf)).toEqual([
    ...["default/web", "default/web", "default/web.default", "default/xyz"],
  ]);
  expect(table.addressesOf("web")).toEqual(["10.30.0.3"]);
  expect(table.addressesOf("xyz")).toEqual([]);
  expect(table.has("10.30.0.1")).toBe(true);
  expect(lost).toEqual([
    'default/web.default: name "web.default" is the one of default/web',
    "default/xyz: 10.30.0.3 is the one of default/web",
    'default/Web: name "Web" is the one of default/web',
    'default/Web: name "Web.default" is the one of default/web',
  ]);
});

test("a service that nobody disputes stays the same object", () => {
  const only = service("web", "10.30.0.1");
  expect(settleClaims([only]).services[0]).toBe(only);
});
