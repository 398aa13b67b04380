import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { type CliProcess, type CliResult, runCli, startCli } from "../support/cli.ts";
import { EdgeRelay } from "./edge-relay.ts";
import { EdgeStage } from "./edge-stage.ts";

const HOSTS = ["a", "b", "c"] as const;
export type EdgeHostName = (typeof HOSTS)[number];

const run = promisify(execFile);
const MANAGER_PORT = 12_090;
const TUNNEL_PORT = 50_103;
const RELAY_PORT = 6000;
const FORWARDING = ["ipv4/ip_forward", "ipv6/conf/all/forwarding"];

export const HOST_NAMES: readonly EdgeHostName[] = HOSTS;
export const hostIp = (host: EdgeHostName): string => `192.168.${HOSTS.indexOf(host) + 1}.2`;

/** Long enough for a node that is dead to be told, on a busy machine. */
export const SOON = { timeout: 30_000, interval: 50 };

/** The addresses of a service that a deployment was answered with, by type: `RR v4`. */
export function addressesOf(body: unknown): (type: string, family?: "v4" | "v6") => string {
  const text = JSON.stringify(body);
  const all = [...text.matchAll(/"IpType":"(\w+)","Address":"([^"]+)"/g)];
  return (type, family = "v4") => {
    const isIt = (ip: string): boolean => ip.includes(":") === (family === "v6");
    const found = all.find(([, kind, ip = ""]) => kind === type && isIt(ip))?.[2];
    if (found === undefined) throw new Error(`no ${type} of ${family} in ${text}`);
    return found;
  };
}

export interface PingCounts {
  readonly sent: number;
  readonly received: number;
}

/** Three machines that share nothing but a router, with a manager on the first one. Needs root. */
export class EdgeHosts {
  readonly router: NetworkNamespace = NetworkNamespace.create();
  readonly #folder = mkdtempSync(join(tmpdir(), "portolan-manager-"));
  readonly #stages: ReadonlyMap<EdgeHostName, EdgeStage>;
  readonly #inside = new Map<string, NetworkNamespace>();
  #relays = 0;

  /** Ends with the test. */
  constructor() {
    onTestFinished(() => {
      this.router.close();
      rmSync(this.#folder, { recursive: true, force: true });
    });
    this.router.run(() => {
      for (const name of FORWARDING) writeFileSync(`/proc/sys/net/${name}`, "1");
    });
    this.#stages = new Map(HOSTS.map((host, index) => [host, this.#stage(host, index + 1)]));
  }

  stage(host: EdgeHostName): EdgeStage {
    const stage = this.#stages.get(host);
    if (stage === undefined) throw new Error(`there is no ${host}`);
    return stage;
  }

  /** On the first host, unless told otherwise. */
  async startManager(host: EdgeHostName = "a", ...args: readonly string[]): Promise<CliProcess> {
    const listen = ["--api-listen", `0.0.0.0:${MANAGER_PORT}`];
    const manager = this.stage(host).host.run(() =>
      startCli(["manager", ...listen, "--state", this.#stateOf(host), ...args]),
    );
    await manager.waitFor(/12090/, "stderr");
    return manager;
  }

  #stateOf(host: EdgeHostName): string {
    return join(this.#folder, host);
  }

  /** The path of a file with a join token. */
  async tokenFile(): Promise<string> {
    const state = this.#stateOf("a");
    const { code, stdout } = await runCli(["manager", "token", "create", "--state", state]);
    const token = /pt1\.\S+/.exec(stdout)?.[0];
    expect([code, token]).toEqual([0, expect.any(String)]);
    const path = join(this.#folder, "token");
    writeFileSync(path, token ?? "");
    return path;
  }

  /** Brings objects of a file into the manager's state. */
  applyToManager(file: string): Promise<CliResult> {
    return runCli(["apply", "-f", file, "--state", this.#stateOf("a")]);
  }

  /** What the manager knows of a service, as JSON. */
  async table(service: string): Promise<string> {
    const args = ["manager", "table", service, "--json", "--state", this.#stateOf("a")];
    return (await runCli(args)).stdout;
  }

  join(host: EdgeHostName, ...args: readonly string[]): Promise<CliProcess> {
    return this.stage(host).join(`${hostIp("a")}:${MANAGER_PORT}`, "--node", host, ...args);
  }

  /** Lines of `ip` on a machine, or on the router. */
  ip(where: EdgeHostName | "router", ...lines: readonly string[]): void {
    const namespace = where === "router" ? this.router : this.stage(where).host;
    const input = lines.join("\n");
    namespace.run(() => execFileSync("ip", ["-batch", "-"], { input, stdio: "pipe" }));
  }

  /** From now on datagrams between the tunnels of two machines pass somebody on the router who can make bad weather. */
  async relay(one: EdgeHostName, other: EdgeHostName): Promise<EdgeRelay> {
    this.#relays += 1;
    const port = RELAY_PORT + this.#relays;
    const pair = [one, other] as const;
    const endOf = (host: EdgeHostName) => ({
      listenIp: hostIp(host).replace(/2$/, "1"),
      hostIp: hostIp(host),
      port,
      hostPort: TUNNEL_PORT,
    });
    const relay = await EdgeRelay.open(
      (spawning) => {
        const child = this.router.run(spawning);
        onTestFinished(() => void child.kill("SIGKILL"));
        return child;
      },
      [endOf(one), endOf(other)],
    );
    const lines = pair.map((host, index) => {
      const to = hostIp(pair[1 - index] ?? host);
      return `iifname to-${host} ip daddr ${to} udp dport ${TUNNEL_PORT} dnat to ${endOf(host).listenIp}:${port}`;
    });
    const chain = "{ type nat hook prerouting priority dstnat; }";
    const rules = lines.map((line) => `add rule ip weather to ${line}`);
    const input = ["add table ip weather", `add chain ip weather to ${chain}`, ...rules].join("\n");
    this.router.run(() => {
      execFileSync("nft", ["-f", "-"], { input, stdio: "pipe" });
      // Since the first relay flows are tracked, and those that are known already would go past this one.
      execFileSync("conntrack", ["-F"], { stdio: "pipe" });
    });
    return relay;
  }

  /** A file of a node's state folder. */
  readState(host: EdgeHostName, name: string): string {
    return readFileSync(join(this.stage(host).folder, name), "utf8");
  }

  /** Deploys a workload that answers with its name on port 80. @returns what the node answered */
  async deploy(
    host: EdgeHostName,
    appName: string,
    instanceNumber: number,
    more: object = {},
  ): Promise<unknown> {
    const stage = this.stage(host);
    const name = `${appName}${instanceNumber}`;
    const containerId = stage.containerId(name);
    const deployment = { containerId, appName, instanceNumber, ...more };
    const { status, body } = await stage.rest("/docker/deploy", deployment);
    expect([status, body]).toEqual([200, expect.anything()]);
    const inside = stage.inside(containerId);
    this.#inside.set(name, inside);
    stage.serve(inside, 80, name);
    return body;
  }

  /** The namespace of a workload: `web0`. */
  inside(workload: string): NetworkNamespace {
    const inside = this.#inside.get(workload);
    if (inside === undefined) throw new Error(`there is no ${workload}`);
    return inside;
  }

  /** Who answers a workload's calls to an address, each once, in order. */
  async answers(workload: string, ip: string, calls: number): Promise<string> {
    const host = ip.includes(":") ? `[${ip}]` : ip;
    const names = new Set<string>();
    for (let call = 0; call < calls; call += 1) {
      const text = await this.stage("a").curl(this.inside(workload), `http://${host}/`, 3);
      names.add(text.startsWith("failed") ? "failed" : (text.split(" ")[0] ?? ""));
    }
    return [...names].sort().join(" ");
  }

  /** Echoes from a workload, for as long as `done` takes. @returns how many were sent, and how many came back */
  async pings(workload: string, ip: string, done: () => Promise<void>): Promise<PingCounts> {
    const args = ["-i", "0.05", "-W", "2", ip];
    const pinging = this.inside(workload).run(() => run("ping", args));
    try {
      await done();
    } finally {
      pinging.child.kill("SIGINT");
    }
    const { stdout } = await pinging;
    const [, sent, received] = /(\d+) packets transmitted, (\d+) received/.exec(stdout) ?? [];
    return { sent: Number(sent), received: Number(received) };
  }

  #stage(host: EdgeHostName, number: number): EdgeStage {
    const router = { v4: `192.168.${number}.1`, v6: `2001:db8:0:${number}::1` };
    return new EdgeStage({
      node: { v4: hostIp(host), v6: `2001:db8:0:${number}::2` },
      outside: router,
      neighbour: this.router,
      down: `to-${host}`,
      hostLines: [`route add default via ${router.v4}`, `route add ::/0 via ${router.v6}`],
      outsideLines: [],
    });
  }
}
