import { execFileSync } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { KUBE_PROXY_JUMPS, restorableJump } from "../../src/backends/kube-proxy-jumps.fixture.ts";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { type CliProcess, type CliResult, runCli, startCli } from "../support/cli.ts";
import { requires } from "../support/requires.ts";

const TOOL = "iptables-nft";
const STATE = ["--from", "file:examples/kpng-state.yaml", "--node", "vm-001"];
const RUN = ["run", ...STATE, "--to", "iptables", "--iptables-mode", "nft"];

function openNamespace() {
  const namespace = NetworkNamespace.create();
  onTestFinished(() => namespace.close());
  return {
    run: (args: readonly string[]): Promise<CliResult> => namespace.run(() => runCli(args)),
    start: (args: readonly string[]): CliProcess => namespace.run(() => startCli(args)),
    restore: (input: string): void => {
      namespace.run(() => execFileSync(`${TOOL}-restore`, ["--noflush"], { input }));
    },
    rules: (): string =>
      namespace.run(() => execFileSync(`${TOOL}-save`, [], { encoding: "utf8" })),
  };
}

describe("portolan on iptables", requires("linux", "root", "ip", "iptables"), () => {
  test("--once leaves the rules in the kernel, and cleanup takes them away", async () => {
    const machine = openNamespace();
    expect(await machine.run([...RUN, "--once"])).toMatchObject({ code: 0 });
    expect(machine.rules()).toContain("KUBE-SVC-NPX46M4PTMTKRN6Y");
    expect(await machine.run(["cleanup", "--to", "iptables"])).toMatchObject({
      code: 0,
      stdout: "iptables: nothing is left\n",
    });
    expect(machine.rules()).not.toContain("KUBE-");
  });

  test("--dry-run prints what a first sync executes, and executes nothing", async () => {
    const machine = openNamespace();
    const { code, stdout } = await machine.run([...RUN, "--dry-run"]);
    expect(code).toBe(0);
    expect(machine.rules()).not.toContain("KUBE-");
    const script = stdout.slice(stdout.indexOf("*filter"), stdout.indexOf("# ip6tables"));
    machine.restore(script.replace(/^ +/gm, ""));
    const byHand = rulesOf(machine.rules());
    expect(byHand).toContain("KUBE-SVC-NPX46M4PTMTKRN6Y");
    await machine.run(["cleanup", "--to", "iptables"]);
    await machine.run([...RUN, "--once"]);
    expect(rulesOf(machine.rules())).toBe(byHand);
  });

  test("while an instance runs, a second one and cleanup are refused with its pid", async () => {
    const machine = openNamespace();
    const first = machine.start(RUN);
    await first.waitFor(/in sync|iptables/, "stderr");
    for (const args of [
      [...RUN, "--once"],
      ["cleanup", "--to", "iptables"],
    ]) {
      const { code, stderr } = await machine.run(args);
      expect(stderr).toContain(`by pid ${first.pid}`);
      expect(code).toBe(4);
    }
    expect(await first.stop()).toMatchObject({ code: 0 });
    expect(machine.rules()).toContain("KUBE-SERVICES");
  });

  test("cleanup --kube-proxy takes kube-proxy's chains and tables away, and leaves kubelet's", async () => {
    const machine = openNamespace();
    machine.restore(
      "*nat\n:KUBE-SERVICES - [0:0]\n:KUBE-LOAD-BALANCER - [0:0]\n:KUBE-MARK-DROP - [0:0]\n-A PREROUTING -j KUBE-SERVICES\n-A KUBE-SERVICES -j KUBE-LOAD-BALANCER\nCOMMIT\n",
    );
    machine.restore(KUBE_PROXY_JUMPS.map(restorableJump).join(""));
    expect(await machine.run(["cleanup", "--kube-proxy"])).toMatchObject({ code: 0 });
    expect(machine.rules().match(/KUBE-[A-Z-]+/g)).toEqual(["KUBE-MARK-DROP"]);
  });
});

function rulesOf(save: string): string {
  return save.replace(/^#.*\n|\[\d+:\d+\]/gm, "");
}
