import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { type CliProcess, type CliResult, runCli, startCli } from "../support/cli.ts";
import { requires } from "../support/requires.ts";

/** A kernel data plane, and how people work with it by hand. */
interface Subject {
  readonly name: string;
  readonly flags: readonly string[];
  /** Programs that a script is for, by the line that comes before it; all of it where there is none. */
  readonly restores: readonly (readonly [string, ...string[]])[];
  readonly reads: readonly (readonly [string, ...string[]])[];
}

const SUBJECTS: readonly Subject[] = [
  {
    name: "nftables",
    flags: ["--to", "nftables"],
    restores: [["nft", "-f", "-"]],
    reads: [["nft", "list", "ruleset"]],
  },
  ...(["nft", "legacy"] as const).map((mode) => ({
    name: `iptables-${mode}`,
    flags: ["--to", "iptables", "--iptables-mode", mode],
    restores: ["iptables", "ip6tables"].map(
      (program) => [`${program}-${mode}-restore`, "-w", "30", "--noflush"] as const,
    ),
    reads: ["iptables", "ip6tables"].map((program) => [`${program}-${mode}-save`] as const),
  })),
];

const ENDPOINTS = ["10.244.1.1", "10.244.1.2", "fd00:244::1"];

function endpointOf(group: string, ip: string, index: number): object {
  return { kind: "Endpoint", name: `${group}-${index}`, group, addresses: [ip] };
}

/** @param endpoints of the service `plain` */
function stateOf(endpoints: readonly string[]): string {
  const objects = [
    { kind: "Node", name: "node-a", addresses: ["192.0.2.1", "fd00::1"] },
    {
      kind: "Service",
      name: "web",
      type: "NodePort",
      clusterIPs: ["10.96.0.10", "fd00:96::10"],
      ports: [{ name: "http", port: 80, nodePort: 30_080, targetPort: 8080 }],
      sourceRanges: ["192.0.2.0/24"],
      affinitySeconds: 600,
    },
    {
      kind: "Service",
      name: "plain",
      clusterIPs: ["10.96.0.11", "fd00:96::11"],
      ports: [{ name: "http", port: 80, targetPort: 8080 }],
    },
    ...ENDPOINTS.map((ip, index) => endpointOf("web", ip, index)),
    ...endpoints.map((ip, index) => endpointOf("plain", ip, index)),
  ];
  return JSON.stringify({ version: 1, objects });
}

const planSchema = z.object({
  backends: z.tuple([z.object({ executes: z.string(), unread: z.string().optional() })]),
});

/** Two network namespaces of one machine, one for Portolan and one for who does it by hand. */
class Machine {
  readonly #subject: Subject;
  readonly #file: string;
  readonly #portolans = NetworkNamespace.create();
  readonly #byHand = NetworkNamespace.create();

  constructor(subject: Subject) {
    this.#subject = subject;
    const folder = mkdtempSync(join(tmpdir(), "portolan-dry-run-"));
    this.#file = join(folder, "state.json");
    onTestFinished(() => {
      this.#portolans.close();
      this.#byHand.close();
      rmSync(folder, { recursive: true, force: true });
    });
    this.write(ENDPOINTS);
  }

  write(endpoints: readonly string[]): void {
    writeFileSync(this.#file, stateOf(endpoints));
  }

  run(flags: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliResult> {
    return this.#portolans.run(() => runCli(this.#argsOf(flags), { env }));
  }

  start(): CliProcess {
    return this.#portolans.run(() => startCli(this.#argsOf([])));
  }

  /** What would be executed. */
  async plan(): Promise<string> {
    const { stdout, code } = await this.run(["--dry-run", "--json"]);
    expect(code).toBe(0);
    return planSchema.parse(JSON.parse(stdout)).backends[0].executes;
  }

  /** Executes a plan in the other namespace. */
  execute(plan: string): void {
    for (const [program, ...args] of this.#subject.restores) {
      const head = `# ${[program, ...args].join(" ")}\n`;
      const from = plan.indexOf(head);
      if (from < 0 && this.#subject.restores.length > 1) continue;
      const rest = from < 0 ? plan : plan.slice(from + head.length);
      const [input = ""] = rest.split(/^# ip6?tables/m);
      this.#byHand.run(() => execFileSync(program, args, { input, stdio: "pipe" }));
    }
  }

  rules(): string {
    return this.#read(this.#portolans);
  }

  rulesByHand(): string {
    return this.#read(this.#byHand);
  }

  /** In an order of its own: hashed containers list their elements in another one in each namespace. */
  #read(namespace: NetworkNamespace): string {
    const texts = this.#subject.reads.map(([program, ...args]) =>
      namespace.run(() => execFileSync(program, args, { encoding: "utf8", stdio: "pipe" })),
    );
    const lines = texts.join("").replace(/^#.*\n|\[\d+:\d+\]/gm, "");
    return this.#subject.name === "nftables"
      ? lines
          .split(/[\n,]|elements = /)
          .map((line) => line.trim())
          .sort()
          .join("\n")
      : lines;
  }

  #argsOf(flags: readonly string[]): readonly string[] {
    const common = ["--from", `file:${this.#file}`, "--node", "node-a"];
    return ["run", ...common, ...this.#subject.flags, ...flags];
  }
}

describe.each(SUBJECTS)("$name", requires("linux", "root", "nft", "iptables"), (subject) => {
  test("a dry run tells what this kernel needs: all, nothing, or one endpoint's change", {
    timeout: 120_000,
  }, async () => {
    const machine = new Machine(subject);
    const empty = machine.rules();
    const whole = await machine.plan();
    expect(machine.rules()).toBe(empty);
    machine.execute(whole);
    expect(await machine.run(["--once"])).toMatchObject({ code: 0 });
    const first = machine.rules();
    expect(first).toContain("10.244.1.2");
    expect(machine.rulesByHand()).toBe(first);

    const { stdout } = await machine.run(["--dry-run"]);
    expect(stdout).toContain("would execute nothing: the kernel has it already\n");

    machine.write(["10.244.1.1", "10.244.1.3", "fd00:244::1"]);
    const change = await machine.plan();
    expect(change).toContain("10.244.1.3");
    expect(change).not.toMatch(/default\/web|10\.96\.0\.10|fd00|ip6|postrouting/i);
    expect(change.length).toBeLessThan(whole.length / 3);
    expect(machine.rules()).toBe(first);
    machine.execute(change);
    expect(await machine.run(["--once"])).toMatchObject({ code: 0 });
    expect(machine.rules()).not.toBe(first);
    expect(machine.rulesByHand()).toBe(machine.rules());
  });

  test("it disturbs no instance, and without the tools tells what an empty kernel needs", {
    timeout: 120_000,
  }, async () => {
    const machine = new Machine(subject);
    const whole = await machine.plan();
    const running = machine.start();
    await running.waitFor(/in the kernel now: 2 services with 6 endpoints/, "stderr");
    expect(await machine.plan()).toBe("");
    const { stdout, code } = await machine.run(["--dry-run"], { PATH: "" });
    expect(code).toBe(0);
    expect(stdout).toMatch(/would execute, where nothing of it is there yet \(.*could not be read/);
    expect(stdout).toContain(whole.trimEnd());
    expect(await running.stop()).toMatchObject({ code: 0 });
  });
});
