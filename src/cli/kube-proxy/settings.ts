/** How a value is written, as a flag and in the configuration file. */
export type SettingKind = "text" | "whole" | "truth" | "duration" | "texts" | "any";

/** What becomes of a setting. */
export type Fate =
  /** An option of ours with the same meaning; where the backend does not have it, that is listed. */
  | { readonly option: string }
  /** Can not be honoured, and why. */
  | { readonly not: string }
  /** It asks for what is so anyway. */
  | "given"
  /** It is read where all of them are put together. */
  | "special";

export interface Setting {
  /** In code, as options are: `clusterCidr` is `--cluster-cidr`. */
  readonly name: string;
  /** In a KubeProxyConfiguration; MODE is `iptables` or `nftables`. Missing where only the flag is. */
  readonly path?: readonly string[];
  /** Only in the file. */
  readonly hasNoFlag?: true;
  readonly kind: SettingKind;
  readonly fate: Fate;
}

const CONNTRACK: Fate = {
  not: "limits of connection tracking are not set; set them with sysctl",
};
const REQUESTS: Fate = {
  not: "there is nothing to limit or choose: three lists and three watches, in JSON",
};
const WINDOWS: Fate = { not: "this is for Windows" };

/** The part of the path that stands for the mode's own section. */
export const MODE = "MODE";

/** Where it stands in the file: `iptables.syncPeriod`; missing where it is a flag alone. */
function setting(name: string, path: string | undefined, kind: SettingKind, fate: Fate): Setting {
  return { name, kind, fate, ...(path !== undefined && { path: path.split(".") }) };
}

function fileOnly(name: string, path: string, kind: SettingKind, fate: Fate): Setting {
  return { ...setting(name, path, kind, fate), hasNoFlag: true };
}

/** All settings of kube-proxy 1.36: its flags and the fields of KubeProxyConfiguration v1alpha1. */
export const SETTINGS: readonly Setting[] = [
  setting("config", undefined, "text", "special"),
  setting("proxyMode", "mode", "text", "special"),
  setting("hostnameOverride", "hostnameOverride", "text", { option: "node" }),
  setting("kubeconfig", "clientConnection.kubeconfig", "text", { option: "kubeconfig" }),
  setting("master", undefined, "text", "special"),
  setting("clusterCidr", "clusterCIDR", "text", { option: "clusterCidr" }),
  setting("detectLocalMode", "detectLocalMode", "text", "special"),
  setting("podBridgeInterface", "detectLocal.bridgeInterface", "text", "special"),
  setting("podInterfaceNamePrefix", "detectLocal.interfaceNamePrefix", "text", "special"),
  setting("nodeportAddresses", "nodePortAddresses", "texts", "special"),
  setting("masqueradeAll", `${MODE}.masqueradeAll`, "truth", { option: "masqueradeAll" }),
  setting("iptablesMasqueradeBit", `${MODE}.masqueradeBit`, "whole", {
    option: "iptablesMasqueradeBit",
  }),
  setting("iptablesSyncPeriod", "iptables.syncPeriod", "duration", {
    option: "iptablesSyncPeriod",
  }),
  setting("iptablesMinSyncPeriod", "iptables.minSyncPeriod", "duration", {
    option: "iptablesMinSyncPeriod",
  }),
  setting("iptablesLocalhostNodeports", "iptables.localhostNodePorts", "truth", {
    not: "node ports answer on loopback where --nodeport-addresses has it, and only there",
  }),
  fileOnly("nftablesSyncPeriod", "nftables.syncPeriod", "duration", { option: "syncPeriod" }),
  fileOnly("nftablesMinSyncPeriod", "nftables.minSyncPeriod", "duration", {
    option: "minSyncPeriod",
  }),
  // The backend `ipvs` has them by the same names.
  setting("ipvsScheduler", "ipvs.scheduler", "text", { option: "ipvsScheduler" }),
  setting("ipvsExcludeCidrs", "ipvs.excludeCIDRs", "texts", { option: "ipvsExcludeCidrs" }),
  setting("ipvsStrictArp", "ipvs.strictARP", "truth", { option: "ipvsStrictArp" }),
  setting("ipvsSyncPeriod", "ipvs.syncPeriod", "duration", { option: "ipvsSyncPeriod" }),
  setting("ipvsMinSyncPeriod", "ipvs.minSyncPeriod", "duration", { option: "ipvsMinSyncPeriod" }),
  setting("ipvsTcpTimeout", "ipvs.tcpTimeout", "duration", { option: "ipvsTcpTimeout" }),
  setting("ipvsTcpfinTimeout", "ipvs.tcpFinTimeout", "duration", { option: "ipvsTcpfinTimeout" }),
  setting("ipvsUdpTimeout", "ipvs.udpTimeout", "duration", { option: "ipvsUdpTimeout" }),
  setting("healthzBindAddress", "healthzBindAddress", "text", "special"),
  setting("metricsBindAddress", "metricsBindAddress", "text", "special"),
  setting("bindAddress", "bindAddress", "text", "special"),
  // An address that is taken always ends the start.
  setting("bindAddressHardFail", "bindAddressHardFail", "truth", "given"),
  setting("oomScoreAdj", "oomScoreAdj", "whole", "special"),
  setting("v", "logging.verbosity", "whole", "special"),
  setting("loggingFormat", "logging.format", "text", "special"),
  setting("logFlushFrequency", "logging.flushFrequency", "any", "given"),
  setting("vmodule", "logging.vmodule", "any", { not: "the log has one level for all; see --v" }),
  fileOnly("logOptions", "logging.options", "any", { not: "the log goes to standard error" }),
  setting("conntrackMaxPerCore", "conntrack.maxPerCore", "any", CONNTRACK),
  setting("conntrackMin", "conntrack.min", "any", CONNTRACK),
  setting("conntrackTcpBeLiberal", "conntrack.tcpBeLiberal", "any", CONNTRACK),
  setting("conntrackTcpTimeoutEstablished", "conntrack.tcpEstablishedTimeout", "any", CONNTRACK),
  setting("conntrackTcpTimeoutCloseWait", "conntrack.tcpCloseWaitTimeout", "any", CONNTRACK),
  setting("conntrackUdpTimeout", "conntrack.udpTimeout", "any", CONNTRACK),
  setting("conntrackUdpTimeoutStream", "conntrack.udpStreamTimeout", "any", CONNTRACK),
  setting("kubeApiBurst", "clientConnection.burst", "any", REQUESTS),
  setting("kubeApiQps", "clientConnection.qps", "any", REQUESTS),
  setting("kubeApiContentType", "clientConnection.contentType", "any", REQUESTS),
  fileOnly("acceptContentTypes", "clientConnection.acceptContentTypes", "any", REQUESTS),
  setting("configSyncPeriod", "configSyncPeriod", "any", {
    not: "objects are followed; there is no list at times",
  }),
  setting("featureGates", "featureGates", "any", { not: "there are none here" }),
  setting("profiling", "enableProfiling", "truth", {
    not: "portolan profile takes profiles of a running instance",
  }),
  setting("showHiddenMetricsForVersion", "showHiddenMetricsForVersion", "text", {
    not: "no metrics are hidden",
  }),
  // Kube-proxy does not use it either.
  setting("proxyPortRange", "portRange", "any", "given"),
  setting("windowsRunAsService", "windowsRunAsService", "any", WINDOWS),
  fileOnly("winkernel", "winkernel", "any", WINDOWS),
  setting("cleanup", undefined, "truth", "special"),
  setting("initOnly", undefined, "truth", "special"),
  setting("writeConfigTo", undefined, "text", { not: "the configuration is not written anywhere" }),
  setting("version", undefined, "truth", "special"),
];
