import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import { type ProbeWorld, probeIptables } from "./probe.ts";

const MACHINE = { os: "linux", isRoot: true } as const;
const works: Exec = { run: async () => ({ exitCode: 0, stdout: "", stderr: "" }) };

function world(more: Partial<ProbeWorld> = {}): ProbeWorld {
  const sysctl = { read: async () => "1", ensure: async () => false };
  return { exec: works, sysctl, readFile: async () => undefined, ...more };
}

test("nothing is missing where the tools work", async () => {
  expect(await probeIptables(MACHINE, world())).toEqual([]);
});

test.each([
  [{ os: "darwin", isRoot: true }, "iptables is of Linux; this is darwin"],
  [{ os: "linux", isRoot: false }, "only root may change the kernel's rules"],
] as const)("on %o it does not work", async (machine, what) => {
  expect(await probeIptables(machine, world())).toMatchObject([{ severity: "missing", what }]);
});

test("one implementation is enough; without any the reasons of both are told", async () => {
  const only = (works_: (program: string) => boolean): Exec => ({
    run: async (program, args) => {
      if (works_(program)) return works.run(program, args);
      throw new CoreError("ERR_NOT_POSSIBLE_HERE", `${program}: there is no such program`);
    },
  });
  const legacy = world({ exec: only((program) => program.includes("legacy")) });
  expect(await probeIptables(MACHINE, legacy)).toEqual([]);
  const [finding] = await probeIptables(MACHINE, world({ exec: only(() => false) }));
  expect(finding?.severity).toBe("missing");
  expect(finding?.what).toMatch(/iptables-nft-save.*iptables-legacy-save/);
});

test("what works badly is told with its remedy", async () => {
  const findings = await probeIptables(
    MACHINE,
    world({
      sysctl: { read: async () => "0", ensure: async () => false },
      readFile: async () => "100\n",
    }),
  );
  expect(findings.map(({ severity, remedy }) => [severity, remedy.slice(0, 32)])).toEqual([
    ["degraded", "sysctl -w net.ipv4.ip_forward=1"],
    ["degraded", "sysctl -w net.ipv6.conf.all.forw"],
    ["degraded", "load the kernel's module with mo"],
  ]);
});
