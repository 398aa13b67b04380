import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureKubernetes } from "../../bench/support/ensure-go-program.ts";
import { freePortBlock } from "../support/free-ports.ts";

const run = promisify(execFile);

const ADMIN = "token-of-the-admin";
const PORTOLAN = "token-of-portolan";
const STARTS_IN_MS = 120_000;
const LOOK_AGAIN_MS = 250;

/** A real API server on a real etcd, without nodes. */
export interface RealCluster {
  readonly folder: string;
  /** For a user `portolan`, who has no rights but those that the test gives. */
  readonly kubeconfig: string;
  /** Runs `kubectl` as the one who may do everything. @returns what it printed */
  kubectl(args: readonly string[], stdin?: string): Promise<string>;
  /** Stops the API server and starts it again on the same store. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startCluster(): Promise<RealCluster> {
  const program = await ensureKubernetes("kube-apiserver", (text) =>
    process.stderr.write(`${text}\n`),
  );
  const folder = await mkdtemp(join(tmpdir(), "portolan-cluster-"));
  const port = await freePortBlock(3);
  const server = `https://127.0.0.1:${port}`;
  const etcdUrl = `http://127.0.0.1:${port + 1}`;
  await run("openssl", ["genrsa", "-out", join(folder, "sa.key"), "2048"]);
  const tokens = `${ADMIN},admin,admin,system:masters\n${PORTOLAN},portolan,portolan\n`;
  await writeFile(join(folder, "tokens.csv"), tokens);
  const kubeconfigOf = (token: string) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "real",
      clusters: [
        { name: "real", cluster: { server, "certificate-authority": "certs/apiserver.crt" } },
      ],
      users: [{ name: "user", user: { token } }],
      contexts: [{ name: "real", context: { cluster: "real", user: "user" } }],
    });
  const kubeconfig = join(folder, "kubeconfig");
  const adminConfig = join(folder, "admin");
  await writeFile(kubeconfig, kubeconfigOf(PORTOLAN));
  await writeFile(adminConfig, kubeconfigOf(ADMIN));
  const etcd = start("etcd", [
    `--data-dir=${join(folder, "etcd")}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=http://127.0.0.1:${port + 2}`,
  ]);
  const startServer = (): ChildProcess =>
    start(program, [
      `--etcd-servers=${etcdUrl}`,
      `--secure-port=${port}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--cert-dir=${join(folder, "certs")}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${join(folder, "sa.key")}`,
      `--service-account-signing-key-file=${join(folder, "sa.key")}`,
      "--authorization-mode=RBAC",
      // As every cluster has it where kube-proxy runs.
      "--allow-privileged=true",
      `--token-auth-file=${join(folder, "tokens.csv")}`,
      "--service-cluster-ip-range=10.96.0.0/16",
    ]);
  let api = startServer();
  const kubectl = (args: readonly string[], stdin = ""): Promise<string> => {
    const called = run("kubectl", [`--kubeconfig=${adminConfig}`, ...args]);
    called.child.stdin?.end(stdin);
    return called.then(({ stdout }) => stdout);
  };
  const ready = async (): Promise<void> => {
    const until = Date.now() + STARTS_IN_MS;
    for (;;) {
      try {
        await kubectl(["get", "--raw", "/readyz"]);
        return;
      } catch (error) {
        if (Date.now() > until || api.exitCode !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      }
    }
  };
  await ready();
  return {
    folder,
    kubeconfig,
    kubectl,
    restart: async () => {
      await stop(api);
      api = startServer();
      await ready();
    },
    close: async () => {
      await stop(api);
      await stop(etcd);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function start(program: string, args: readonly string[]): ChildProcess {
  return spawn(program, args, { stdio: "ignore" });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}
