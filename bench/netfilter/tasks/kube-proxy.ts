/**
 * `kube-proxy PROGRAM MODE FILE NODE once|stay [TOOLS]`, in a network namespace of its own: runs kube-proxy on a
 * state until it has followed all of it, and prints what its first syncs took; then both end, or stay until they are
 * ended. TOOLS: a folder with the programs of iptables that it finds.
 */
import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { KubeApi } from "../kube-api.ts";

const METRICS = "127.0.0.1:10249";
const LOOK_EVERY_MS = 250;
const PATIENCE_MS = 20 * 60_000;
const MS_PER_SECOND = 1000;
const BYTES_A_MEGABYTE = 1_048_576;
const KEPT_CHARACTERS = 4000;

const [program = "", mode = "", file = "", node = "", until = "", tools = ""] =
  process.argv.slice(2);
const api = new KubeApi(file);
const services = api.count("Service");
const master = await api.listen();
const child = spawn(
  program,
  [
    `--master=${master}`,
    `--hostname-override=${node}`,
    `--proxy-mode=${mode}`,
    `--metrics-bind-address=${METRICS}`,
    "--healthz-bind-address=127.0.0.1:10256",
    // What is the whole machine's is left alone.
    "--conntrack-max-per-core=0",
    "--conntrack-tcp-timeout-established=0s",
    "--conntrack-tcp-timeout-close-wait=0s",
  ],
  {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, PATH: `${tools}:${process.env["PATH"]}` },
  },
);
const end = (): never => {
  child.kill("SIGKILL");
  api.close();
  process.exit(0);
};
process.on("SIGTERM", end);
let said = "";
child.stderr.setEncoding("utf8").on("data", (text: string) => {
  said = (said + text).slice(-KEPT_CHARACTERS);
});
const started = performance.now();
let numbers = new Map<string, number>();
while (!isDone(numbers)) {
  if (child.exitCode !== null) throw new Error(`kube-proxy ended with ${child.exitCode}:\n${said}`);
  if (performance.now() - started > PATIENCE_MS)
    throw new Error(`kube-proxy does not sync:\n${said}`);
  await delay(LOOK_EVERY_MS);
  numbers = await readMetrics();
}
const seconds = (name: string): number => (numbers.get(name) ?? 0) * MS_PER_SECOND;
console.log(
  JSON.stringify({
    firstMs: seconds("kubeproxy_sync_proxy_rules_duration_seconds_sum"),
    cpuMs: seconds("process_cpu_seconds_total"),
    residentMegabytes: (numbers.get("process_resident_memory_bytes") ?? 0) / BYTES_A_MEGABYTE,
  }),
);
if (until === "once") end();

/** All services were told and none of them waits for a sync. */
function isDone(now: ReadonlyMap<string, number>): boolean {
  const told = now.get("kubeproxy_sync_proxy_rules_service_changes_total") ?? 0;
  const pending = now.get("kubeproxy_sync_proxy_rules_service_changes_pending");
  const syncs = now.get("kubeproxy_sync_proxy_rules_duration_seconds_count") ?? 0;
  return told >= services && pending === 0 && syncs > 0;
}

/** By name; what is told by families is summed. */
async function readMetrics(): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  try {
    const text = await (await fetch(`http://${METRICS}/metrics`)).text();
    for (const [, name = "", value] of text.matchAll(/^(\w+)(?:\{[^}]*\})? (\S+)$/gm)) {
      sums.set(name, (sums.get(name) ?? 0) + Number(value));
    }
  } catch {
    // It does not listen yet.
  }
  return sums;
}
