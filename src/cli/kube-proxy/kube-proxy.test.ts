import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadBackend } from "../../backends/registry.ts";
import { flagName } from "../../core/options/option-spec.ts";
import { resolveConfig } from "../../daemon/config.ts";
import { RUN_OPTIONS } from "../../daemon/options.ts";
import { KUBE_PROXY } from "../kube-proxy.ts";
import { parseGoDurationMs } from "./go-duration.ts";
import { readSettings } from "./read-settings.ts";
import { backendOf, translate } from "./translate.ts";

/** As `kubeadm` writes it. */
const KUBEADM = `
apiVersion: kubeproxy.config.k8s.io/v1alpha1
bindAddress: 0.0.0.0
bindAddressHardFail: false
clientConnection:
  acceptContentTypes: ""
  burst: 0
  contentType: ""
  kubeconfig: /var/lib/kube-proxy/kubeconfig.conf
  qps: 0
clusterCIDR: 10.244.0.0/16
configSyncPeriod: 0s
conntrack: { maxPerCore: 32768, min: null, tcpBeLiberal: false, tcpCloseWaitTimeout: null }
detectLocal: { bridgeInterface: "", interfaceNamePrefix: "" }
detectLocalMode: ""
enableProfiling: false
healthzBindAddress: ""
hostnameOverride: ""
iptables: { localhostNodePorts: null, masqueradeAll: false, masqueradeBit: null, minSyncPeriod: 0s, syncPeriod: 1m30s }
ipvs: { excludeCIDRs: null, minSyncPeriod: 0s, scheduler: "rr", strictARP: false, syncPeriod: 0s, tcpFinTimeout: 0s, tcpTimeout: 0s, udpTimeout: 0s }
kind: KubeProxyConfiguration
logging: { flushFrequency: 0, options: { json: { infoBufferSize: "0" } }, verbosity: 5 }
metricsBindAddress: 0.0.0.0
mode: ""
nftables: { masqueradeAll: true, masqueradeBit: 13, minSyncPeriod: 2s, syncPeriod: 0s }
nodePortAddresses: null
oomScoreAdj: -999
portRange: ""
showHiddenMetricsForVersion: ""
winkernel: { enableDSR: false, forwardHealthCheckVip: false, networkName: "", rootHnsEndpointName: "", sourceVip: "" }
`;

async function write(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-kube-proxy-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "config.conf");
  await writeFile(file, text);
  return file;
}

async function translated(flags: Readonly<Record<string, unknown>>) {
  const settings = await readSettings(flags);
  const backend = backendOf(settings);
  const options = (await loadBackend(backend))?.options ?? {};
  const knownOptions = new Set([...Object.keys(RUN_OPTIONS), ...Object.keys(options)]);
  return { backend, ...translate(settings, { backend, knownOptions }) };
}

test("kubeadm's configuration becomes options that an instance takes, and says what it can not", async () => {
  const { backend, flags, notHonoured, oomScoreAdj } = await translated({
    config: await write(KUBEADM),
    hostnameOverride: "worker-1",
  });
  expect(backend).toBe("iptables");
  expect(oomScoreAdj).toBe(-999);
  expect(flags).toEqual({
    from: ["kube"],
    kubeProxyMetrics: true,
    kubeconfig: "/var/lib/kube-proxy/kubeconfig.conf",
    node: "worker-1",
    clusterCidr: "10.244.0.0/16",
    iptablesSyncPeriod: "90000ms",
    logLevel: "debug",
    nodeportAddresses: "all",
    healthListen: "off",
    metricsListen: "0.0.0.0:10249",
  });
  expect(notHonoured).toEqual([expect.stringMatching(/^--conntrack-max-per-core: /)]);
  const config = await resolveConfig({
    flags: { ...flags, to: [backend] },
    environment: {},
    hostName: "host",
  });
  expect(config).toMatchObject({
    node: "worker-1",
    values: { kubeProxyMetrics: true, healthListen: undefined, metricsListen: { port: 10249 } },
    backends: [{ options: { nodeportAddresses: "all", iptablesSyncPeriod: 90_000 } }],
  });
});

test("a flag wins over the file, and the mode chooses the section", async () => {
  const config = await write(KUBEADM);
  const { backend, flags } = await translated({
    config,
    proxyMode: "nftables",
    clusterCidr: "10.0.0.0/8",
    healthzBindAddress: "::",
    metricsBindAddress: ":9999",
    nodeportAddresses: "10.0.0.0/8, 192.168.0.0/16",
    detectLocalMode: "BridgeInterface",
    podBridgeInterface: "cni0",
    masqueradeAll: "false",
  });
  expect(backend).toBe("nftables");
  expect(flags).toMatchObject({
    clusterCidr: "10.0.0.0/8",
    healthListen: "[::]:10256",
    metricsListen: "0.0.0.0:9999",
    nodeportAddresses: "10.0.0.0/8,192.168.0.0/16",
    detectLocalMode: "interface",
    podInterfaceNamePrefix: "cni0",
    iptablesMasqueradeBit: 13,
    minSyncPeriod: "2000ms",
  });
  expect(flags["masqueradeAll"]).toBeUndefined();
});

test("mode ipvs: its schedulers, networks of others and time-outs are options of the backend", async () => {
  const { backend, flags, notHonoured } = await translated({
    proxyMode: "ipvs",
    ipvsScheduler: "lc",
    ipvsExcludeCidrs: "192.0.2.0/24,198.51.100.0/24",
    ipvsStrictArp: "true",
    ipvsUdpTimeout: "5m0s",
  });
  expect([backend, notHonoured]).toEqual(["ipvs", []]);
  const config = await resolveConfig({
    flags: { ...flags, to: [backend] },
    environment: {},
    hostName: "host",
  });
  expect(config.backends[0]?.options).toMatchObject({
    ipvsScheduler: "lc",
    ipvsExcludeCidrs: ["192.0.2.0/24", "198.51.100.0/24"],
    ipvsStrictArp: true,
    ipvsUdpTimeout: 300_000,
    nodeportAddresses: "all",
  });
});

test("kube-proxy's defaults where nothing is said", async () => {
  expect((await translated({})).flags).toEqual({
    from: ["kube"],
    kubeProxyMetrics: true,
    nodeportAddresses: "all",
    healthListen: "0.0.0.0:10256",
    metricsListen: "127.0.0.1:10249",
  });
});

test("what is wrong is refused, all at once, with the file and the field", async () => {
  const config = await write(
    "apiVersion: v1\nkind: KubeProxyConfiguration\nmdoe: ipvs\niptables: { syncPeriod: soon, bit: 1 }\n",
  );
  await expect(readSettings({ config })).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    problems: [
      { path: ["apiVersion"] },
      { path: ["iptables", "syncPeriod"] },
      { path: ["mdoe"], expected: expect.stringContaining("mode") },
      { path: ["iptables", "bit"] },
    ],
  });
  await expect(readSettings({ masqueradeAll: "perhaps" })).rejects.toMatchObject({
    code: "ERR_USAGE",
  });
  await expect(translated({ proxyMode: "kernelspace" })).rejects.toThrow(
    "expected one of iptables",
  );
});

/** `kube-proxy --help` of 1.36, without those of the logging library that are for tests. */
const FLAGS = `bind-address bind-address-hard-fail cleanup cluster-cidr config config-sync-period
conntrack-max-per-core conntrack-min conntrack-tcp-be-liberal conntrack-tcp-timeout-close-wait
conntrack-tcp-timeout-established conntrack-udp-timeout conntrack-udp-timeout-stream detect-local-mode
feature-gates healthz-bind-address hostname-override init-only iptables-localhost-nodeports
iptables-masquerade-bit iptables-min-sync-period iptables-sync-period ipvs-exclude-cidrs
ipvs-min-sync-period ipvs-scheduler ipvs-strict-arp ipvs-sync-period ipvs-tcp-timeout
ipvs-tcpfin-timeout ipvs-udp-timeout kube-api-burst kube-api-content-type kube-api-qps kubeconfig
log-flush-frequency logging-format masquerade-all master metrics-bind-address nodeport-addresses
oom-score-adj pod-bridge-interface pod-interface-name-prefix profiling proxy-mode proxy-port-range
show-hidden-metrics-for-version v version vmodule windows-run-as-service write-config-to`;

test("all of kube-proxy's flags are there, by their names", () => {
  const flags = KUBE_PROXY.optionGroups[1]?.specs ?? {};
  expect(Object.keys(flags).map(flagName).sort()).toEqual(FLAGS.split(/\s+/).sort());
});

test.each([
  ["30s", 30_000],
  ["1h0m0s", 3_600_000],
  ["1m30.5s", 90_500],
  ["250ms", 250],
  ["0", 0],
  ["30", undefined],
  ["s", undefined],
  ["-1s", undefined],
])("Go's duration %s", (text, ms) => {
  expect(parseGoDurationMs(text)).toBe(ms);
});
