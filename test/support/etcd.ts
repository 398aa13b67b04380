import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { EtcdClient } from "../../src/engines/etcd/etcd-client.ts";
import type { EtcdClientOptions, EtcdLimits } from "../../src/engines/etcd/etcd-options.ts";
import { freePortBlock } from "./free-ports.ts";

const run = promisify(execFile);
const HOST = "127.0.0.1";
const LOOK_AGAIN_MS = 30;

export interface EtcdTlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface EtcdMember {
  readonly port: number;
  readonly address: string;
  /** As a crash does; what it has on disk stays. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops it as it is: connections stay and nothing answers. */
  freeze(): void;
  thaw(): void;
}

export interface EtcdCluster {
  readonly members: readonly EtcdMember[];
  /** `HOST:PORT,HOST:PORT`, as `etcd:` takes it. */
  readonly addresses: string;
  /** Runs etcdctl on all members. @returns what it prints */
  ctl(...args: readonly string[]): Promise<string>;
  /** What clients of it need. */
  readonly options: Omit<EtcdClientOptions, "limits">;
  /** A client that ends with the test. */
  client(options?: Partial<EtcdClientOptions>): EtcdClient;
}

export interface EtcdClusterOptions {
  readonly members?: number;
  /** Of the servers, and what clients have to show. */
  readonly tls?: EtcdTlsFiles;
}

/** Starts the real etcd on loopback, with data of its own; it ends with the test. */
export async function startEtcd(options: EtcdClusterOptions = {}): Promise<EtcdCluster> {
  const { members: count = 1, tls } = options;
  const folder = mkdtempSync(join(tmpdir(), "portolan-etcd-"));
  const first = await freePortBlock(2 * count);
  const scheme = tls === undefined ? "http" : "https";
  const urlOf = (index: number): string => `${scheme}://${HOST}:${first + 2 * index}`;
  const peerOf = (index: number): string => `http://${HOST}:${first + 2 * index + 1}`;
  const indexes = Array.from({ length: count }, (_, index) => index);
  const initial = indexes.map((index) => `m${index}=${peerOf(index)}`).join(",");
  const members = indexes.map((index) =>
    createMember(first + 2 * index, [
      ...["--name", `m${index}`, "--data-dir", join(folder, `m${index}`)],
      ...["--listen-client-urls", urlOf(index), "--advertise-client-urls", urlOf(index)],
      ...["--listen-peer-urls", peerOf(index), "--initial-advertise-peer-urls", peerOf(index)],
      ...["--initial-cluster", initial, "--heartbeat-interval", "50", "--election-timeout", "500"],
      ...["--grpc-keepalive-min-time", "100ms"],
      ...["--log-level", "error", "--logger", "zap"],
      ...(tls === undefined ? [] : tlsFlags(tls)),
    ]),
  );
  onTestFinished(async () => {
    await Promise.all(members.map((member) => member.kill()));
    rmSync(folder, { recursive: true, force: true });
  });
  await Promise.all(members.map((member) => member.start()));
  const endpoints = indexes.map(urlOf).join(",");
  const ctl = async (...args: readonly string[]): Promise<string> => {
    const secured =
      tls === undefined ? [] : ["--cacert", tls.ca, "--cert", tls.cert, "--key", tls.key];
    const { stdout } = await run("etcdctl", ["--endpoints", endpoints, ...secured, ...args], {
      env: { ...process.env, ETCDCTL_API: "3" },
      maxBuffer: 67_108_864,
    });
    return stdout;
  };
  const access: EtcdCluster["options"] = {
    members: members.map(({ port }) => ({ kind: "tcp", host: HOST, port })),
    random: Math.random,
    sleep: async (ms, signal) => {
      await delay(ms, undefined, { signal });
    },
    tls: tls && { caFile: tls.ca, certFile: tls.cert, keyFile: tls.key },
  };
  return {
    members,
    options: access,
    addresses: members.map((member) => member.address).join(","),
    ctl,
    client: (given) => {
      const limits = { ...QUICK, ...given?.limits };
      const client = new EtcdClient({ ...access, ...given, limits });
      onTestFinished(() => client.close());
      return client;
    },
  };
}

/** So that tests need not wait long for what is given up. */
export const QUICK: Partial<EtcdLimits> = {
  backoff: { firstMs: 50, maxMs: 500 },
  connectTimeoutMs: 500,
  callTimeoutMs: 1000,
  pingIntervalMs: 300,
  pingTimeoutMs: 300,
};

function tlsFlags({ ca, cert, key }: EtcdTlsFiles): readonly string[] {
  return ["--cert-file", cert, "--key-file", key, "--trusted-ca-file", ca, "--client-cert-auth"];
}

function createMember(port: number, args: readonly string[]): EtcdMember {
  let child: ChildProcess | undefined;
  let output = "";
  const signal = (name: NodeJS.Signals): void => {
    child?.kill(name);
  };
  return {
    port,
    address: `${HOST}:${port}`,
    kill: async () => {
      const ending = child;
      child = undefined;
      if (ending === undefined || ending.exitCode !== null) return;
      const gone = once(ending, "exit");
      ending.kill("SIGKILL");
      await gone;
    },
    start: async () => {
      output = "";
      const started = spawn("etcd", args, {
        stdio: ["ignore", "pipe", "pipe"],
        env: { PATH: process.env["PATH"], ETCD_UNSUPPORTED_ARCH: process.arch },
      });
      for (const stream of [started.stdout, started.stderr]) {
        stream.on("data", (chunk: Buffer) => {
          output = (output + chunk.toString()).slice(-4000);
        });
      }
      child = started;
      while (!(await isOpen(port))) {
        if (started.exitCode !== null) throw new Error(`etcd ended: ${output}`);
        await delay(LOOK_AGAIN_MS);
      }
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    const settle = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", settle(true));
    socket.once("error", settle(false));
  });
}
