import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { CoreError } from "../../core/errors.ts";
import { type Exec, systemExec } from "../../platform/linux/exec.ts";
import { NetworkNamespace } from "../../platform/linux/network-namespace.ts";
import { createNft, type Nft } from "../../platform/linux/nft/nft.ts";
import { type ProbeWorld, probeNftables } from "./probe.ts";

const ROOT = { os: "linux", isRoot: true } as const;

const NFT: Nft = {
  run: async () => undefined,
  check: async () => undefined,
  list: async () => undefined,
  outline: async () => undefined,
  listElements: async () => [],
  version: async () => "1.0.6",
};

function world(more: Partial<Nft> = {}, kernel = "6.1.0-18-amd64"): ProbeWorld {
  const sysctl = { read: async () => "1", ensure: async () => false };
  const findKubeProxy = async () => undefined;
  return { nft: { ...NFT, ...more }, sysctl, findKubeProxy, kernel };
}

const fails = (message: string) => async () => {
  throw new CoreError("ERR_PROGRAM_FAILED", message);
};

const isMissing = async () => {
  throw new CoreError("ERR_NOT_POSSIBLE_HERE", "nft --version: there is no such program");
};

test("finds nothing missing where all is there", async () => {
  expect(await probeNftables(ROOT, world())).toEqual([]);
});

test.each([
  ["another system", { os: "darwin", isRoot: true } as const, world(), "this is darwin"],
  ["no nft", ROOT, world({ version: isMissing }), "there is no program nft"],
  [
    "an nft that does not work",
    ROOT,
    world({ version: fails("nft --version: was ended by SIGSEGV") }),
    "the program nft does not work: nft --version: was ended by SIGSEGV",
  ],
  ["an old nft", ROOT, world({ version: async () => "0.9.8" }), "nft 0.9.8 is too old"],
  ["an old kernel", ROOT, world({}, "5.4.0-42"), "kernel 5.4.0-42 is too old"],
  ["no root", { os: "linux", isRoot: false } as const, world(), "only root"],
  [
    "no permission",
    ROOT,
    world({ check: fails("nft: Operation not permitted") }),
    "changing the kernel's rules is not permitted",
  ],
  ["a kernel without modules", ROOT, world({ check: fails("Not supported") }), "Not supported"],
])("tells the remedy where there is %s", async (_name, machine, given, what) => {
  const [finding, ...others] = await probeNftables(machine, given);
  expect(others).toEqual([]);
  expect(finding?.severity).toBe("missing");
  expect(finding?.what).toContain(what);
  expect(finding?.remedy).not.toBe("");
});

test("a machine that does not forward works with a warning", async () => {
  const sysctl = {
    read: async (name: string) => (name === "net.ipv4.ip_forward" ? "0" : "1"),
    ensure: async () => false,
  };
  const findings = await probeNftables(ROOT, { ...world(), sysctl });
  expect(findings).toMatchObject([
    { severity: "degraded", remedy: "sysctl -w net.ipv4.ip_forward=1" },
  ]);
});

test("a kube-proxy that lives is a warning", async () => {
  const findings = await probeNftables(ROOT, { ...world(), findKubeProxy: async () => "pid 7" });
  expect(findings).toMatchObject([
    { severity: "degraded", what: "kube-proxy runs here (pid 7) and serves the same services" },
  ]);
});

describe("a program nft", requires("linux"), () => {
  /** The first one in PATH. */
  async function probeWith(script: string | undefined) {
    const folder = await mkdtemp(join(tmpdir(), "portolan-nft-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    if (script !== undefined) {
      await writeFile(join(folder, "nft"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    const exec: Exec = {
      run: (program, args, options) =>
        systemExec.run(program, args, { ...options, env: { PATH: folder } }),
    };
    return probeNftables(ROOT, { ...world(), nft: createNft(exec) });
  }
  const ANEW = expect.stringContaining("command -v nft");

  test.each([
    ["crashes", "kill -SEGV $$", "nft --version: was ended by SIGSEGV"],
    [
      "lacks a library",
      "echo 'libnftables.so.1: cannot open' >&2; exit 127",
      "nft --version: ended with exit code 127: libnftables.so.1: cannot open",
    ],
  ])("that %s is not told to be missing", async (_, script, why) => {
    const what = `the program nft does not work: ${why}`;
    expect(await probeWith(script)).toEqual([{ severity: "missing", what, remedy: ANEW }]);
  });

  test("that is missing is to be installed", async () => {
    const remedy = expect.stringMatching(/^install it: /);
    const what = "there is no program nft";
    expect(await probeWith(undefined)).toEqual([{ severity: "missing", what, remedy }]);
  });
});

describe("the kernel", requires("linux", "root", "nft"), () => {
  test("takes the rules, whatever another version left in our table, and is not touched", async () => {
    const namespace = NetworkNamespace.create();
    const exec: typeof systemExec = {
      run: (...call) => namespace.run(() => systemExec.run(...call)),
    };
    const nft = createNft(exec);
    try {
      await nft.run("add table ip portolan\nadd set ip portolan services { type ipv4_addr ; }\n");
      const listRules = async () => (await exec.run("nft", ["list", "ruleset"])).stdout;
      const before = await listRules();
      expect(await probeNftables(ROOT, { ...world(), nft })).toEqual([]);
      expect(await listRules()).toBe(before);
    } finally {
      namespace.close();
    }
  });
});
