import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished, vi } from "vitest";
import { type EdgeHostName, type EdgeHosts, HOST_NAMES, hostIp } from "./edge-hosts.ts";

const run = promisify(execFile);
const CLIENT_PORT = 2379;
const PEER_PORT = 2380;
const ENVIRONMENT = { ...process.env, ETCDCTL_API: "3" };

/** The real etcd with a member on each of three hosts; it ends with the test. */
export class EdgeEtcd {
  readonly addresses: string = HOST_NAMES.map((host) => `${hostIp(host)}:${CLIENT_PORT}`).join();
  readonly #hosts: EdgeHosts;
  readonly #members = new Map<EdgeHostName, ChildProcess>();

  static async start(hosts: EdgeHosts): Promise<EdgeEtcd> {
    const etcd = new EdgeEtcd(hosts);
    await vi.waitFor(() => etcd.#ctl("endpoint", "health"), { timeout: 20_000, interval: 100 });
    return etcd;
  }

  private constructor(hosts: EdgeHosts) {
    this.#hosts = hosts;
    const folder = mkdtempSync(join(tmpdir(), "portolan-etcd-"));
    const peers = HOST_NAMES.map((host) => `${host}=http://${hostIp(host)}:${PEER_PORT}`).join();
    for (const host of HOST_NAMES) {
      const [client, peer] = [CLIENT_PORT, PEER_PORT].map(
        (port) => `http://${hostIp(host)}:${port}`,
      );
      const args = [
        ...["--name", host, "--data-dir", join(folder, host), "--initial-cluster", peers],
        ...["--listen-client-urls", `${client}`, "--advertise-client-urls", `${client}`],
        ...["--listen-peer-urls", `${peer}`, "--initial-advertise-peer-urls", `${peer}`],
        ...["--log-level", "error", "--logger", "zap"],
      ];
      const env = { PATH: process.env["PATH"], ETCD_UNSUPPORTED_ARCH: process.arch };
      // It ends with this process, also where that is killed.
      const words = ["--pdeathsig", "KILL", "etcd", ...args];
      const start = () => spawn("setpriv", words, { stdio: "ignore", env });
      this.#members.set(host, hosts.stage(host).host.run(start));
    }
    onTestFinished(async () => {
      await Promise.all(HOST_NAMES.map((host) => this.kill(host)));
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** The member that leads the others. */
  async leader(): Promise<EdgeHostName> {
    const text = await this.#ctl("endpoint", "status", "-w", "fields");
    const members = text.split("\n\n").flatMap((block) => {
      const [, id] = /"MemberID" : (\d+)/.exec(block) ?? [];
      const [, leader] = /"Leader" : (\d+)/.exec(block) ?? [];
      const host = HOST_NAMES.find((name) => block.includes(`${hostIp(name)}:`));
      return id !== undefined && id === leader && host !== undefined ? [host] : [];
    });
    const [first] = members;
    if (first === undefined) throw new Error(`nobody leads: ${text}`);
    return first;
  }

  async kill(host: EdgeHostName): Promise<void> {
    const member = this.#members.get(host);
    this.#members.delete(host);
    if (member === undefined || member.exitCode !== null) return;
    const gone = once(member, "exit");
    member.kill("SIGKILL");
    await gone;
  }

  async #ctl(...args: readonly string[]): Promise<string> {
    const all = ["--endpoints", this.addresses, ...args];
    const { stdout } = await this.#hosts
      .stage("a")
      .host.run(() => run("etcdctl", all, { env: ENVIRONMENT }));
    return stdout;
  }
}
