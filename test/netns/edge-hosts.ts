import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { type CliProcess, runCli, startCli } from "../support/cli.ts";
import { EdgeStage } from "./edge-stage.ts";

const HOSTS = ["a", "b", "c"] as const;
export type EdgeHostName = (typeof HOSTS)[number];

const MANAGER_PORT = 12_090;
const FORWARDING = ["ipv4/ip_forward", "ipv6/conf/all/forwarding"];

const hostIp = (host: EdgeHostName): string => `192.168.${HOSTS.indexOf(host) + 1}.2`;

/** Three machines that share nothing but a router, with a manager on the first one. Needs root. */
export class EdgeHosts {
  readonly router: NetworkNamespace = NetworkNamespace.create();
  readonly #folder = mkdtempSync(join(tmpdir(), "portolan-manager-"));
  readonly #stages: ReadonlyMap<EdgeHostName, EdgeStage>;
  readonly #inside = new Map<string, NetworkNamespace>();

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

  async startManager(): Promise<CliProcess> {
    const listen = ["--api-listen", `0.0.0.0:${MANAGER_PORT}`];
    const manager = this.stage("a").host.run(() =>
      startCli(["manager", ...listen, "--state", this.#folder]),
    );
    await manager.waitFor(/12090/, "stderr");
    return manager;
  }

  /** The path of a file with a join token. */
  async tokenFile(): Promise<string> {
    const { code, stdout } = await runCli(["manager", "token", "create", "--state", this.#folder]);
    const token = /pt1\.\S+/.exec(stdout)?.[0];
    expect([code, token]).toEqual([0, expect.any(String)]);
    const path = join(this.#folder, "token");
    writeFileSync(path, token ?? "");
    return path;
  }

  join(host: EdgeHostName, ...args: readonly string[]): Promise<CliProcess> {
    return this.stage(host).join(`${hostIp("a")}:${MANAGER_PORT}`, "--node", host, ...args);
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
