import { expect, test } from "vitest";
import { defaultLink, primaryAddress } from "./primary-address.ts";

const HEAD =
  "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
const row = (link: string, destination: string, metric: number, mask: string) =>
  `${link}\t${destination}\t0101A8C0\t0003\t0\t0\t${metric}\t${mask}\t0\t0\t0\n`;

test("the default route with the lowest metric says which link is the primary one", () => {
  const table = [
    HEAD,
    row("wlan0", "00000000", 600, "00000000"),
    row("eth0", "00000000", 100, "00000000"),
    row("vpn0", "00000000", 10, "00000080"),
    row("eth1", "0000A8C0", 0, "00FFFFFF"),
  ].join("");
  expect(defaultLink(table)).toBe("eth0");
  expect(defaultLink(HEAD)).toBeUndefined();
  expect(defaultLink("")).toBeUndefined();
});

test("a machine none of whose links count has no address", () => {
  expect(primaryAddress(() => true)).toBeUndefined();
});
