import { expect, test } from "vitest";
import { flagLayer, resolveOptions } from "../../core/options/resolve-options.ts";
import { IPVS_OPTIONS } from "./options.ts";
import { type IpvsSettings, settingsOf } from "./settings.ts";

function settings(flags: Readonly<Record<string, string | string[]>>): IpvsSettings {
  const { values } = resolveOptions(IPVS_OPTIONS, [flagLayer(flags)]);
  if (values === undefined) throw new Error("the options are not valid");
  return settingsOf(values);
}

test("the kernel counts time-outs in seconds, and what is not asked stays", () => {
  const { timeouts } = settings({ ipvsTcpTimeout: "15m", ipvsUdpTimeout: "5s" });
  expect(timeouts).toEqual({ tcp: 900, tcpFin: 0, udp: 5 });
});

test("networks and single addresses of others, of both families", () => {
  const { isExcluded } = settings({
    ipvsExcludeCidrs: ["192.0.2.0/24", "198.51.100.7", "fd00::/16"],
  });
  const ips = ["192.0.2.9", "192.0.3.9", "198.51.100.7", "198.51.100.8", "fd00::1", "fd01::1"];
  expect(ips.filter(isExcluded)).toEqual(["192.0.2.9", "198.51.100.7", "fd00::1"]);
});

test.each([
  [{ ipvsExcludeCidrs: ["10.0.0.0/99"] }, /--ipvs-exclude-cidrs: "10.0.0.0\/99" is not valid/],
  [{ ipvsSyncPeriod: "999ms" }, /--ipvs-sync-period: "999ms" is too short/],
  [{ ipvsTcpTimeout: "999ms" }, /--ipvs-tcp-timeout: "999ms" is too short/],
  [{ iptablesMasqueradeBit: "15" }, /--iptables-masquerade-bit: 15 has another meaning/],
  [{ iptablesMasqueradeBit: "29" }, /--iptables-masquerade-bit: 29 has another meaning/],
])("refused: %j", (flags, message) => {
  expect(() => settings(flags)).toThrow(message);
});
