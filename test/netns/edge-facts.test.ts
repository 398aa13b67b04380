import { execFileSync } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { requires } from "../support/requires.ts";

describe("what the kernel does with a tunnel", requires("linux", "root", "ip"), () => {
  test("a packet for an address of the machine does not reach a tunnel that a route leads to", () => {
    const namespace = NetworkNamespace.create();
    onTestFinished(() => namespace.close());
    const ip = (...args: readonly string[]): string =>
      namespace.run(() => execFileSync("ip", args, { encoding: "utf8" }));
    ip("link", "set", "lo", "up");
    ip("tuntap", "add", "dev", "tun0", "mode", "tun");
    ip("link", "set", "tun0", "up");
    for (const address of ["203.0.113.1", "203.0.113.2"])
      ip("route", "add", address, "dev", "tun0");
    ip("address", "add", "203.0.113.1/32", "dev", "lo");
    expect(ip("route", "get", "203.0.113.1")).toMatch(/^local 203\.0\.113\.1 dev lo/);
    expect(ip("route", "get", "203.0.113.2")).toMatch(/^203\.0\.113\.2 dev tun0/);
  });
});
