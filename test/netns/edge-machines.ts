import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { type CliProcess, type CliResult, runCli, startCli } from "../support/cli.ts";

export type MachineName = "one" | "two";

/** Where a machine is, and its workload; the workload has a route to it, and no bridge. */
const MACHINES = {
  one: { ip: "192.0.2.1", ip6: "2001:db8::1", v4: "10.18.0.2", v6: "fc00::2" },
  two: { ip: "192.0.2.2", ip6: "2001:db8::2", v4: "10.18.0.66", v6: "fc00::102" },
} as const;

const SUBNETS = { one: "10.18.0.0/26, fc00::/120", two: "10.18.0.64/26, fc00::100/120" } as const;

/** Two machines with a workload each and somebody outside, joined by a bridge; ends with the test. Needs root. */
export class EdgeMachines {
  readonly folder: string = mkdtempSync(join(tmpdir(), "portolan-machines-"));
  readonly outside: NetworkNamespace = NetworkNamespace.create();
  readonly #spaces: Readonly<Record<MachineName, NetworkNamespace>>;
  readonly #workloads: Readonly<Record<MachineName, NetworkNamespace>>;
  readonly #open: (() => void)[] = [];

  constructor() {
    onTestFinished(() => {
      for (const close of this.#open) close();
      rmSync(this.folder, { recursive: true, force: true });
    });
    const make = (): NetworkNamespace => {
      const namespace = NetworkNamespace.create();
      this.#open.push(() => namespace.close());
      return namespace;
    };
    this.#open.push(() => this.outside.close());
    this.#spaces = { one: make(), two: make() };
    this.#workloads = { one: make(), two: make() };
    ip(this.outside, [
      "link set lo up",
      "link add br0 type bridge",
      "address add 192.0.2.9/24 dev br0",
      "address add 2001:db8::9/64 dev br0 nodad",
      "link set br0 up",
    ]);
    for (const name of ["one", "two"] as const) this.#build(name);
  }

  machine(name: MachineName): NetworkNamespace {
    return this.#spaces[name];
  }

  workload(name: MachineName): NetworkNamespace {
    return this.#workloads[name];
  }

  /** The public key of a machine's tunnel, as the program tells it. */
  async key(name: MachineName): Promise<string> {
    const { stdout } = await this.cli(name, "edge", "key", "--tunnel-folder", this.tunnel(name));
    return stdout.trim();
  }

  tunnel(name: MachineName): string {
    return join(this.folder, name);
  }

  /** Lines of the short form for both nodes. */
  async nodes(): Promise<readonly string[]> {
    const lines: string[] = ["nodes:"];
    for (const name of ["one", "two"] as const) {
      const address = `${MACHINES[name].ip}:50103`;
      const key = await this.key(name);
      lines.push(
        `  ${name}: { addresses: [${MACHINES[name].ip}, "${MACHINES[name].ip6}"], subnets: [${SUBNETS[name]}], tunnel: { address: "${address}", publicKey: "${key}" } }`,
      );
    }
    return lines;
  }

  /** Writes the state that all machines read. @returns the argument for `--from` */
  write(lines: readonly string[]): string {
    const path = join(this.folder, "state.yaml");
    writeFileSync(path, `${["version: 1", ...lines].join("\n")}\n`);
    return `file:${path}`;
  }

  start(name: MachineName, ...args: readonly string[]): CliProcess {
    return this.machine(name).run(() => startCli([...args, ...this.#common(name)]));
  }

  cli(name: MachineName, ...args: readonly string[]): Promise<CliResult> {
    return this.machine(name).run(() => runCli(args));
  }

  /** `portolan run --to edge` on a machine, once it serves. */
  async run(name: MachineName, from: string, ...args: readonly string[]): Promise<CliProcess> {
    const process = this.start(name, "run", "--from", from, "--to", "edge", ...args);
    await process.waitFor(/the tunnel is open/, "stderr");
    return process;
  }

  #common(name: MachineName): readonly string[] {
    return [
      ...["--node", name, "--state", join(this.folder, `state-${name}`)],
      ...["--tunnel-folder", this.tunnel(name)],
    ];
  }

  /** Answers everyone on a port of a workload with a name and who called. */
  serve(name: MachineName, port: number, answer: string = name): Server {
    const server = createServer((call, response) => {
      response.end(`${answer} ${call.socket.remoteAddress?.replace("::ffff:", "")}`);
    });
    this.workload(name).run(() => server.listen(port));
    this.#open.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return server;
  }

  exec(namespace: NetworkNamespace, program: string, args: readonly string[]): string {
    return namespace.run(() => execFileSync(program, args, { encoding: "utf8", stdio: "pipe" }));
  }

  #build(name: MachineName): void {
    const { ip: v4, ip6, v4: own4, v6: own6 } = MACHINES[name];
    const machine = this.#spaces[name];
    const workload = this.#workloads[name];
    ip(machine, [
      "link set lo up",
      `link add up0 type veth peer name to-${name} netns ${this.outside.path}`,
      `address add ${v4}/24 dev up0`,
      `address add ${ip6}/64 dev up0 nodad`,
      "link set up0 up",
      `link add work0 type veth peer name eth0 netns ${workload.path}`,
      "address add 169.254.1.1/32 dev work0",
      "address add fe80::1/64 dev work0 nodad",
      "link set work0 up",
      `route add ${own4} dev work0`,
      `route add ${own6} dev work0`,
    ]);
    ip(this.outside, [`link set to-${name} master br0`, `link set to-${name} up`]);
    ip(workload, [
      "link set lo up",
      `address add ${own4}/32 dev eth0`,
      `address add ${own6}/128 dev eth0 nodad`,
      "link set eth0 up",
      "route add 169.254.1.1 dev eth0",
      "route add default via 169.254.1.1",
      "route add ::/0 via fe80::1 dev eth0",
    ]);
  }
}

function ip(namespace: NetworkNamespace, lines: readonly string[]): void {
  namespace.run(() => execFileSync("ip", ["-batch", "-"], { input: lines.join("\n") }));
}
