import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import { type ProbeWorld, probeIptables } from "./probe.ts";

const MACHINE = { os: "linux", isRoot: true } as const;
const works: Exec = { run: async () => ({ exitCode: 0, stdout: "", stderr: "" }) };

function world(more: Partial<ProbeWorld> = {}): ProbeWorld {
  const sysctl = { read: async () => "1", ensure: async () => false };
  const nothing = async () => undefined;
  return { exec: works, sysctl, findKubeProxy: nothing, readFile: nothing, ...more };
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

/** Tools of which some are not there, and some are refused by the kernel. */
function tools(complaints: Readonly<Record<string, string | undefined>>): Exec {
  return {
    run: async (program, args) => {
      const complaint = complaints[program];
      if (complaint === undefined) {
        throw new CoreError("ERR_NOT_POSSIBLE_HERE", `${program}: there is no such program`);
      }
      if (complaint === "") return works.run(program, args);
      return { exitCode: 1, stdout: "", stderr: complaint };
    },
  };
}

test.each([
  [{ "iptables-legacy-restore": "" }],
  [{ "iptables-nft-restore": "no such chain type", "iptables-legacy-restore": "" }],
])("one implementation is enough: %o", async (complaints) => {
  expect(await probeIptables(MACHINE, world({ exec: tools(complaints) }))).toEqual([]);
});

test.each([
  [
    "no tools",
    {},
    "there is neither iptables-nft-restore nor iptables-legacy-restore",
    /^install iptables 1\.8 or newer/,
  ],
  [
    "no permission",
    {
      "iptables-nft-restore": "line 2 failed: Permission denied (you must be root).",
      "iptables-legacy-restore": "unable to initialize table 'nat'",
    },
    "changing the kernel's rules is not permitted",
    /^give it CAP_NET_ADMIN$/,
  ],
  [
    "a kernel without",
    { "iptables-legacy-restore": "unable to initialize table 'nat'" },
    expect.stringContaining("unable to initialize table 'nat'"),
    /a kernel with nf_tables or ip_tables$/,
  ],
] as const)("%s: one finding with its remedy", async (_, complaints, what, remedy) => {
  const findings = await probeIptables(MACHINE, world({ exec: tools(complaints) }));
  expect(findings).toEqual([{ severity: "missing", what, remedy: expect.stringMatching(remedy) }]);
});

test("a tool that crashes is told as it is, and not as a kernel that lacks something", async () => {
  const why = "iptables-nft-restore -w 30 --noflush --test: was ended by SIGSEGV";
  const exec: Exec = {
    run: async (program, args) => {
      if (program === "iptables-nft-restore") throw new CoreError("ERR_PROGRAM_FAILED", why);
      return tools({}).run(program, args);
    },
  };
  expect(await probeIptables(MACHINE, world({ exec }))).toEqual([
    {
      severity: "missing",
      what: `rules can not be changed: ${why}`,
      remedy: expect.stringMatching(/^see what becomes of iptables-nft-restore --version/),
    },
  ]);
});

test("what is probed changes nothing", async () => {
  const calls: string[] = [];
  const exec: Exec = {
    run: async (program, args, options) => {
      calls.push(`${[program, ...args].join(" ")} < ${JSON.stringify(options?.stdin)}`);
      return works.run(program, args);
    },
  };
  await probeIptables(MACHINE, world({ exec }));
  expect(calls).toEqual(['iptables-nft-restore -w 30 --noflush --test < "*nat\\nCOMMIT\\n"']);
});

test("what works badly is told with its remedy", async () => {
  const findings = await probeIptables(
    MACHINE,
    world({
      sysctl: { read: async () => "0", ensure: async () => false },
      findKubeProxy: async () => "pid 7",
      readFile: async () => "100\n",
    }),
  );
  expect(findings.map(({ severity, remedy }) => [severity, remedy.slice(0, 32)])).toEqual([
    ["degraded", "sysctl -w net.ipv4.ip_forward=1"],
    ["degraded", "sysctl -w net.ipv6.conf.all.forw"],
    ["degraded", "stop it, then portolan cleanup -"],
    ["degraded", "load the kernel's module with mo"],
  ]);
});
