import { expect, test } from "vitest";
import { NetworkSet } from "./network-set.ts";

test("it holds the addresses of its networks and no others", () => {
  const trusted = new NetworkSet(["10.0.0.0/8", "192.168.1.1", "fd00::/64"]);
  for (const ip of ["10.255.0.1", "192.168.1.1", "fd00::1"]) expect(trusted.has(ip), ip).toBe(true);
  for (const ip of ["11.0.0.1", "192.168.1.2", "fd00:0:0:1::1", "::ffff:a00:1", "nothing", ""]) {
    expect(trusted.has(ip), ip).toBe(false);
  }
  expect(new NetworkSet([]).has("10.0.0.1")).toBe(false);
  expect(new NetworkSet(["::/0"]).has("10.0.0.1")).toBe(false);
});
