import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { type CliProcess, type CliResult, runCli, startCli } from "../support/cli.ts";
import { requires } from "../support/requires.ts";

const STATE = {
  version: 1,
  objects: [
    { kind: "Node", name: "node-a", addresses: ["192.0.2.1"] },
    {
      kind: "Service",
      name: "web",
      clusterIPs: ["10.96.0.10"],
      ports: [{ name: "http", port: 80, targetPort: 8080 }],
    },
    { kind: "Endpoint", name: "web-1", group: "web", addresses: ["10.244.1.1"] },
  ],
};

/** A network namespace in which the built program runs on a small state. */
class Machine {
  readonly #namespace = NetworkNamespace.create();
  readonly #folder = mkdtempSync(join(tmpdir(), "portolan-kernel-"));
  readonly #state: readonly string[];

  constructor() {
    const folder = this.#folder;
    const file = join(folder, "state.json");
    writeFileSync(file, JSON.stringify(STATE));
    this.#state = ["--from", `file:${file}`, "--node", "node-a"];
    onTestFinished(() => {
      this.#namespace.close();
      rmSync(folder, { recursive: true, force: true });
    });
  }

  cli(...args: readonly string[]): Promise<CliResult> {
    return this.#namespace.run(() => runCli(args));
  }

  run(...flags: readonly string[]): Promise<CliResult> {
    return this.cli("run", ...this.#state, ...flags);
  }

  start(...flags: readonly string[]): CliProcess {
    return this.#namespace.run(() => startCli(["run", ...this.#state, ...flags]));
  }

  explain(origin: "outside" | "node" = "outside"): Promise<CliResult> {
    const source = origin === "node" ? "192.0.2.1" : "198.51.100.9";
    const packet = ["--src", source, "--dst", "10.96.0.10:80", "--in", origin];
    return this.cli("explain", ...this.#state, ...packet, "--backend", "nftables", "--live");
  }

  nft(...args: readonly string[]): string {
    return this.tool("nft", ...args);
  }

  tool(program: string, ...args: readonly string[]): string {
    const options = { stdio: "pipe", encoding: "utf8" } as const;
    return this.#namespace.run(() => execFileSync(program, args, options));
  }

  /** A process of that name, which does nothing. @param isHere or in the namespace of the test */
  async startKubeProxy(isHere: boolean): Promise<ChildProcess> {
    const program = join(this.#folder, "kube-proxy");
    copyFileSync("/bin/sleep", program);
    const begin = () => spawn(program, ["infinity"], { stdio: "ignore" });
    const child = isHere ? this.#namespace.run(begin) : begin();
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child, "spawn");
    return child;
  }
}

describe("portolan in the kernel", requires("linux", "root", "nft", "iptables"), () => {
  test("explain --live ends with 1 where the kernel differs from the reference, or may differ, and with 0 where it agrees", {
    timeout: 60_000,
  }, async () => {
    const machine = new Machine();
    expect(await machine.run("--to", "nftables", "--once")).toMatchObject({ code: 0 });
    const right = await machine.explain();
    expect(right.stdout).toContain("It does as the reference says");
    expect(right.code).toBe(0);
    machine.nft("add table netdev nd");
    machine.nft("add chain netdev nd in { type filter hook ingress device lo priority 0; }");
    machine.nft("add rule netdev nd in ip daddr 10.96.0.10 counter");
    expect(await machine.explain()).toMatchObject({ code: 0 });
    machine.nft("add rule netdev nd in ip daddr 10.96.0.10 drop");
    const doubted = await machine.explain();
    expect(doubted.stdout).toMatch(
      /It can NOT BE TOLD whether it does as the reference says\n {2}- not known: netdev nd in: .*\n$/,
    );
    expect(doubted.code).toBe(1);
    machine.nft("flush chain ip portolan dispatch");
    const altered = await machine.explain();
    expect(altered.stdout).toContain("It DIFFERS from the reference");
    expect(altered.code).toBe(1);
  });

  test("explain --live tells where a connect(2) of this node leads; where it has to and can not, a start is refused", {
    timeout: 60_000,
    ...requires("cgroup2"),
  }, async () => {
    const machine = new Machine();
    const direct = machine.start("--to", "nftables");
    await direct.waitFor(/in the kernel now: 1 services with 1 endpoints/, "stderr");
    const { stdout } = await machine.explain("node");
    expect(stdout).toMatch(
      /connect\(2\): program \d+ portolan_conn4 leads 10\.96\.0\.10:80 to\n\s+100 %: 10\.244\.1\.1:8080\n/,
    );
    expect(await direct.stop()).toMatchObject({ code: 0 });
    expect((await machine.explain("node")).stdout).not.toContain("connect(2)");
    const nowhere = ["--direct-connect-cgroup", "/nowhere", "--once"];
    const refused = await machine.run("--to", "nftables", "--direct-connect", "on", ...nowhere);
    expect(refused.stderr).toContain("--direct-connect on: ENOENT");
    expect(refused.code).toBe(4);
  });

  test("a second data plane is refused with the name and pid of the first; clean-up of it is not", {
    timeout: 60_000,
  }, async () => {
    const machine = new Machine();
    const first = machine.start("--to", "nftables");
    await first.waitFor(/in the kernel now: 1 services with 1 endpoints/, "stderr");
    const second = await machine.run("--to", "iptables", "--once");
    expect(second.stderr).toContain(
      `the backend "nftables" is run in this network namespace already, by pid ${first.pid}`,
    );
    expect(second.stderr).toContain("portolan cleanup --to nftables");
    expect(second.code).toBe(4);
    expect(await machine.cli("cleanup", "--to", "iptables")).toMatchObject({ code: 0 });
    expect(await machine.cli("cleanup", "--to", "nftables")).toMatchObject({ code: 4 });
    expect(await first.stop()).toMatchObject({ code: 0 });
    expect(await machine.run("--to", "iptables", "--once")).toMatchObject({ code: 0 });
  });

  test("what the backend ipvs left is removed also where the kernel has no IPVS", {
    timeout: 60_000,
  }, async () => {
    const machine = new Machine();
    machine.tool("iptables-legacy", "-N", "KUBE-IPVS-FILTER");
    machine.tool("iptables-legacy", "-A", "INPUT", "-j", "KUBE-IPVS-FILTER");
    const removed = { code: 0, stdout: "ipvs: nothing is left\n" };
    expect(await machine.cli("cleanup", "--to", "ipvs")).toMatchObject(removed);
    expect(machine.tool("iptables-legacy-save")).not.toContain("KUBE");
    expect(await machine.cli("cleanup", "--to", "ipvs")).toMatchObject(removed);
  });

  test("nftables takes over from a kube-proxy that lives only where it is told to, and leaves its rules until they are cleaned up", {
    timeout: 60_000,
  }, async () => {
    const machine = new Machine();
    machine.nft("add table ip kube-proxy");
    const other = await machine.startKubeProxy(false);
    expect(await machine.run("--to", "nftables", "--once")).toMatchObject({ code: 0 });
    other.kill("SIGKILL");
    await once(other, "exit");
    expect(await machine.cli("cleanup", "--to", "nftables")).toMatchObject({ code: 0 });

    const living = await machine.startKubeProxy(true);
    const refused = await machine.run("--to", "nftables", "--once");
    expect(refused.stderr.split(`kube-proxy runs here (pid ${living.pid})`)).toHaveLength(2);
    expect(refused.stderr).toContain("--take-over");
    expect(refused.code).toBe(4);
    expect(machine.nft("list tables")).toBe("table ip kube-proxy\n");

    expect(await machine.run("--to", "nftables", "--take-over", "--once")).toMatchObject({
      code: 0,
    });
    expect(machine.nft("list tables")).toContain("table ip kube-proxy\n");
    expect((await machine.explain()).code).toBe(0);
    living.kill("SIGKILL");
    await once(living, "exit");
    expect(await machine.cli("cleanup", "--kube-proxy")).toMatchObject({ code: 0 });
    expect(machine.nft("list tables")).toBe("table ip portolan\ntable ip6 portolan\n");
    expect((await machine.explain()).code).toBe(0);
  });
});
