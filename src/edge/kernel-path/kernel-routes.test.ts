import { expect, test } from "vitest";
import type { Target } from "../flows/packet-router.ts";
import { PrefixMap } from "../flows/prefix-map.ts";
import { FakeKernelMaps } from "./kernel-maps.fixture.ts";
import { KernelRoutes } from "./kernel-routes.ts";

type Name = "b" | "c";
const NUMBERS: Readonly<Record<Name, number>> = { b: 1, c: 2 };

function world() {
  const { maps, done } = new FakeKernelMaps();
  const routes = new PrefixMap<Target<Name>>();
  const asked: Name[] = [];
  const kernel = new KernelRoutes<Name>({ v4: maps.routesV4, v6: maps.routesV6 }, (name) => {
    asked.push(name);
    return NUMBERS[name];
  });
  const written = () =>
    [maps.routesV4, maps.routesV6].flatMap(({ entries }) =>
      [...entries].map(([key, value]) => `${key} ${Buffer.from(value).toString("hex")}`),
    );
  return { routes, kernel, written, done, asked };
}

test("networks are there as the tunnel has them, this node's with its own number", () => {
  const { routes, kernel, written } = world();
  routes.add("10.18.0.0/26", "local");
  routes.add("10.18.1.0/24", "b");
  routes.add("fc00:1::/120", "c");
  kernel.follow(routes);
  expect(written()).toEqual([
    "1a0000000a120000 ffffffff",
    "180000000a120100 01000000",
    `78000000fc000001${"0".repeat(24)} 02000000`,
  ]);
});

test("one that changes hands is replaced in one step, and nothing else is touched", () => {
  const { routes, kernel, written, done } = world();
  routes.add("10.18.0.0/26", "local");
  routes.add("10.18.1.0/24", "b");
  routes.add("10.18.2.0/24", "b");
  kernel.follow(routes);
  done.length = 0;
  routes.delete("10.18.1.0/24", "b");
  routes.delete("10.18.2.0/24", "b");
  routes.add("10.18.1.0/24", "c");
  kernel.follow(routes);
  expect(done).toEqual(["delete routesV4 180000000a120200", "set routesV4 180000000a120100"]);
  expect(written()).toEqual(["1a0000000a120000 ffffffff", "180000000a120100 02000000"]);
});

test("they are not looked through again where none has changed", () => {
  const { routes, kernel, asked } = world();
  routes.add("10.18.1.0/24", "b");
  kernel.follow(routes);
  kernel.follow(routes);
  expect(asked).toEqual(["b"]);
  routes.add("10.18.2.0/24", "c");
  kernel.follow(routes);
  expect(asked).toEqual(["b", "b", "c"]);
});
