import { expect, test } from "vitest";
import { CoreError } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { flagLayer, resolveOptions } from "../../../core/options/resolve-options.ts";
import type { IpvsChange } from "../../../wire/netlink/ipvs/encode-ipvs.ts";
import { setsOf } from "../glue/set-names.ts";
import { IPVS_OPTIONS } from "../options.ts";
import { settingsOf } from "../settings.ts";
import { createFakeKernel, createFakePlatform } from "./fake-platform.fixture.ts";
import type { IpvsPlatform } from "./platform.ts";
import { prepareKernel } from "./prepare-kernel.ts";

const silent = (): void => undefined;

/** A kernel of a version whose settings are all 0; it writes down what is set and told. */
function prepared(
  flags: Readonly<Record<string, string>>,
  kernel: string,
  more: Partial<IpvsPlatform> = {},
) {
  const { values } = resolveOptions(IPVS_OPTIONS, [flagLayer(flags)]);
  if (values === undefined) throw new Error("the options are not valid");
  const set = new Map<string, string>();
  const told: string[] = [];
  const changes: IpvsChange[] = [];
  const log: Log = {
    debug: silent,
    info: (_, message) => void told.push(message),
    warn: silent,
    error: silent,
  };
  const sysctl = {
    read: async (name: string) => set.get(name),
    ensure: async (name: string, value: string) => {
      if (set.get(name) === value) return false;
      set.set(name, value);
      return true;
    },
  };
  const fake = createFakePlatform(createFakeKernel());
  let timeouts = { tcp: 60, tcpFin: 120, udp: 300 };
  const ipvs = {
    ...fake.ipvs,
    timeouts: async () => timeouts,
    change: async (items: readonly IpvsChange[]) => {
      changes.push(...items);
      for (const item of items) {
        if (item.kind === "setConfig") timeouts = { ...timeouts, tcp: item.timeouts.tcp };
      }
      return [];
    },
  };
  const platform = { ...fake, ipvs, ...more };
  const settings = settingsOf(values);
  const run = () =>
    prepareKernel({ platform, sysctl, families: [setsOf("v4")], settings, log, kernel });
  return { run, set, told, changes };
}

test("settings are made and told once", async () => {
  const { run, set, told, changes } = prepared({}, "6.1.0");
  await run();
  expect(Object.fromEntries(set)).toEqual({
    "net.ipv4.vs.conntrack": "1",
    "net.ipv4.vs.expire_nodest_conn": "1",
    "net.ipv4.vs.expire_quiescent_template": "1",
  });
  expect(told).toHaveLength(3);
  expect(told[0]).toContain("net.ipv4.vs.conntrack was set to 1, so that");
  expect(changes).toEqual([]);
  await run();
  expect(told).toHaveLength(3);
});

test("strict ARP and time-outs where they are asked for", async () => {
  const flags = { ipvsStrictArp: "true", ipvsTcpTimeout: "15m" };
  const { run, set, told, changes } = prepared(flags, "6.1.0");
  await run();
  expect(set.get("net.ipv4.conf.all.arp_ignore")).toBe("1");
  expect(set.get("net.ipv4.conf.all.arp_announce")).toBe("2");
  expect(changes).toEqual([{ kind: "setConfig", timeouts: { tcp: 900, tcpFin: 0, udp: 0 } }]);
  expect(told).toContain("the time-outs of IPVS were set: tcp 900 s, tcpfin 120 s, udp 300 s");
  await run();
  expect(changes).toHaveLength(1);
});

test.each([
  ["4.0.9", undefined],
  ["4.1.0", "0"],
  ["5.8.18-generic", "0"],
  ["5.9.0", undefined],
])("reused ports with kernel %s", async (kernel, value) => {
  const { run, set } = prepared({}, kernel);
  await run();
  expect(set.get("net.ipv4.vs.conn_reuse_mode")).toBe(value);
});

test("a kernel that refuses the sets is told", async () => {
  const error = new CoreError(
    "ERR_SYSTEM_CALL",
    "create of the set KUBE-CLUSTER-IP failed: EINVAL",
  );
  const sets: IpvsPlatform["sets"] = {
    entries: async () => undefined,
    change: async () => [{ index: 1, errno: 22, error }],
    close: silent,
  };
  await expect(prepared({}, "6.1.0", { sets }).run()).rejects.toThrow("KUBE-CLUSTER-IP failed");
});

test("a set that is there with another type is named with the remedy; all else is made", async () => {
  const made: string[] = [];
  const error = new CoreError("ERR_SYSTEM_CALL", "create of the set KUBE-CLUSTER-IP: EEXIST");
  const sets: IpvsPlatform["sets"] = {
    entries: async () => undefined,
    change: async (changes) => {
      const at = changes.findIndex(({ set }) => set.name === "KUBE-CLUSTER-IP");
      for (const { set } of changes) if (set.name !== "KUBE-CLUSTER-IP") made.push(set.name);
      return [{ index: at, errno: 17, error }];
    },
    close: silent,
  };
  await expect(prepared({}, "6.1.0", { sets }).run()).rejects.toThrow(
    /KUBE-CLUSTER-IP is there, but of another type.*ipset destroy KUBE-CLUSTER-IP$/,
  );
  expect(made).toContain("KUBE-IPVS-IPS");
});
