import { expect, test } from "vitest";
import { CoreError } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { flagLayer, resolveOptions } from "../../../core/options/resolve-options.ts";
import type { IpvsChange } from "../../../wire/netlink/ipvs/encode-ipvs.ts";
import { setsOf } from "../glue/set-names.ts";
import { IPVS_OPTIONS } from "../options.ts";
import { settingsOf } from "../settings.ts";
import { createFakePlatform } from "./fake-platform.fixture.ts";
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
  const fake = createFakePlatform({
    servers: new Map(),
    destinations: new Map(),
    entries: new Map(),
    addresses: new Set(),
  });
  const ipvs = {
    ...fake.ipvs,
    change: async (items: readonly IpvsChange[]) => {
      changes.push(...items);
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
  const { run, set, changes } = prepared({ ipvsStrictArp: "true", ipvsTcpTimeout: "15m" }, "6.1.0");
  await run();
  expect(set.get("net.ipv4.conf.all.arp_ignore")).toBe("1");
  expect(set.get("net.ipv4.conf.all.arp_announce")).toBe("2");
  expect(changes).toEqual([{ kind: "setConfig", timeouts: { tcp: 900, tcpFin: 0, udp: 0 } }]);
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
