import { readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { openForwardedPackets, parseForwardedV4, parseForwardedV6 } from "./forwarded-packets.ts";

test("reads the number below its name", () => {
  const text = [
    "Ip: Forwarding DefaultTTL InReceives ForwDatagrams OutRequests",
    "Ip: 1 64 900 1234 77",
    "Icmp: InMsgs ForwDatagrams",
    "Icmp: 5 6",
  ].join("\n");
  expect(parseForwardedV4(text)).toBe(1234);
});

test("reads the number behind its name", () => {
  const text = "Ip6InReceives                    \t12\nIp6OutForwDatagrams              \t34\n";
  expect(parseForwardedV6(text)).toBe(34);
});

test("a kernel that does not count forwards nothing", () => {
  expect(parseForwardedV4("Ip: DefaultTTL\nIp: 64\n")).toBe(0);
  expect(parseForwardedV6("")).toBe(0);
});

test("asks this kernel again and again", requires("linux"), () => {
  const packets = openForwardedPackets();
  try {
    const first = packets.read();
    expect(first).toBeGreaterThanOrEqual(0);
    expect(packets.read()).toBeGreaterThanOrEqual(first);
  } finally {
    packets.close();
  }
});

test("what was opened is closed", requires("linux"), () => {
  const before = openCounters();
  const packets = openForwardedPackets();
  expect(openCounters()).toBeGreaterThan(before);
  packets.close();
  expect(openCounters()).toBe(before);
});

/** How many descriptors this process has of the kernel's counters, which may be called `snmp (deleted)`, too. */
function openCounters(): number {
  return readdirSync("/proc/self/fd").filter((name) => /\/net\/snmp/.test(targetOf(name))).length;
}

/** The one by which the folder is read is gone by then. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}
