import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { CoreError } from "../../core/errors.ts";
import { IPVS } from "./definition.ts";
import { type ProbeWorld, probeIpvs } from "./probe.ts";

const MACHINE = { os: "linux", isRoot: true } as const;

function world(more: Partial<ProbeWorld> = {}): ProbeWorld {
  const nothing = async () => undefined;
  return {
    exec: { run: async () => ({ exitCode: 0, stdout: "", stderr: "" }) },
    sysctl: { read: async () => "1", ensure: async () => false },
    modules: {
      ensure: async () => ({ loaded: [], missing: [] }),
      notLoaded: () => [],
      absent: () => [],
    },
    findKubeProxy: nothing,
    tryIpvs: nothing,
    ...more,
  };
}

test("nothing is missing where the kernel has IPVS and the tools work", async () => {
  expect(await probeIpvs(MACHINE, world())).toEqual([]);
});

test.each([
  [{ os: "darwin", isRoot: true }, "IPVS is of Linux; this is darwin"],
  [{ os: "linux", isRoot: false }, "only root may change the kernel's rules"],
] as const)("on %o it does not work", async (machine, what) => {
  expect(await probeIpvs(machine, world())).toMatchObject([{ severity: "missing", what }]);
});

test("a kernel without IPVS is told with the remedy; other errors are not taken for that", async () => {
  const refuse = (error: Error) => world({ tryIpvs: () => Promise.reject(error) });
  const without = new CoreError("ERR_NOT_POSSIBLE_HERE", "this kernel has no IPVS");
  expect(await probeIpvs(MACHINE, refuse(without))).toMatchObject([
    {
      severity: "missing",
      what: "this kernel has no IPVS",
      remedy: expect.stringContaining("modprobe ip_vs"),
    },
  ]);
  await expect(probeIpvs(MACHINE, refuse(new TypeError("a bug")))).rejects.toThrow("a bug");
});

test("modules that are missing are told by name, schedulers by what that means", async () => {
  const gone = ["xt_set", "ip_vs_mh", "ip_vs_sed"];
  const modules = {
    ensure: async () => ({ loaded: [], missing: [] }),
    notLoaded: () => [],
    absent: (names: readonly string[]) => names.filter((name) => gone.includes(name)),
  };
  expect(await probeIpvs(MACHINE, world({ modules }))).toEqual([
    {
      severity: "missing",
      what: "modules of the kernel are missing: xt_set",
      remedy: expect.stringContaining("modprobe -a xt_set,"),
    },
    {
      severity: "degraded",
      what: "schedulers are missing (ip_vs_mh, ip_vs_sed): services that ask for them are not served",
      remedy: expect.stringContaining("modprobe -a ip_vs_mh ip_vs_sed,"),
    },
  ]);
});

test("to remove what was left, neither IPVS nor iptables is needed, but root is", async () => {
  const tryIpvs = () => Promise.reject(new Error("it was asked"));
  expect(await probeIpvs(MACHINE, world({ tryIpvs }), "clean-up")).toEqual([]);
  expect(await probeIpvs({ ...MACHINE, isRoot: false }, world(), "clean-up")).toHaveLength(1);
});

test("forwarding that is off is told", async () => {
  const sysctl = { read: async () => "0", ensure: async () => false };
  expect(await probeIpvs(MACHINE, world({ sysctl }))).toMatchObject([
    { severity: "degraded", remedy: "sysctl -w net.ipv4.ip_forward=1" },
    { severity: "degraded", remedy: "sysctl -w net.ipv6.conf.all.forwarding=1" },
  ]);
});

test("the kernel of this machine is asked", requires("linux", "root", "iptables"), async () => {
  const findings = await IPVS.probe(MACHINE);
  const isWithout = findings.some(({ what }) => what.startsWith("this kernel has no IPVS"));
  expect(isWithout).toBe(!existsSync("/proc/net/ip_vs"));
});
