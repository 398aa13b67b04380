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

const CONNTRACK = "limits of connection tracking are not set; set them with sysctl";
const REQUESTS = "there is nothing to limit or choose: three lists and three watches, in JSON";
const WINDOWS = "this is for Windows";

/** The part of the path that stands for the mode's own section. */
export const MODE = "MODE";

/** The backend `ipvs` has them by the same names. */
const IPVS_SETTINGS: readonly (readonly [name: string, key: string, kind: SettingKind])[] = [
  ["ipvsScheduler", "scheduler", "text"],
  ["ipvsExcludeCidrs", "excludeCIDRs", "texts"],
  ["ipvsStrictArp", "strictARP", "truth"],
  ["ipvsSyncPeriod", "syncPeriod", "duration"],
  ["ipvsMinSyncPeriod", "minSyncPeriod", "duration"],
  ["ipvsTcpTimeout", "tcpTimeout", "duration"],
  ["ipvsTcpfinTimeout", "tcpFinTimeout", "duration"],
  ["ipvsUdpTimeout", "udpTimeout", "duration"],
];

/** All settings of kube-proxy 1.36: its flags and the fields of KubeProxyConfiguration v1alpha1. */
export const SETTINGS: readonly Setting[] = [
  { name: "config", kind: "text", fate: "special" },
  { name: "proxyMode", path: ["mode"], kind: "text", fate: "special" },
  { name: "hostnameOverride", path: ["hostnameOverride"], kind: "text", fate: { option: "node" } },
  {
    name: "kubeconfig",
    path: ["clientConnection", "kubeconfig"],
    kind: "text",
    fate: { option: "kubeconfig" },
  },
  { name: "master", kind: "text", fate: "special" },
  { name: "clusterCidr", path: ["clusterCIDR"], kind: "text", fate: { option: "clusterCidr" } },
  { name: "detectLocalMode", path: ["detectLocalMode"], kind: "text", fate: "special" },
  {
    name: "podBridgeInterface",
    path: ["detectLocal", "bridgeInterface"],
    kind: "text",
    fate: "special",
  },
  {
    name: "podInterfaceNamePrefix",
    path: ["detectLocal", "interfaceNamePrefix"],
    kind: "text",
    fate: "special",
  },
  { name: "nodeportAddresses", path: ["nodePortAddresses"], kind: "texts", fate: "special" },
  {
    name: "masqueradeAll",
    path: [MODE, "masqueradeAll"],
    kind: "truth",
    fate: { option: "masqueradeAll" },
  },
  {
    name: "iptablesMasqueradeBit",
    path: [MODE, "masqueradeBit"],
    kind: "whole",
    fate: { option: "iptablesMasqueradeBit" },
  },
  {
    name: "iptablesSyncPeriod",
    path: ["iptables", "syncPeriod"],
    kind: "duration",
    fate: { option: "iptablesSyncPeriod" },
  },
  {
    name: "iptablesMinSyncPeriod",
    path: ["iptables", "minSyncPeriod"],
    kind: "duration",
    fate: { option: "iptablesMinSyncPeriod" },
  },
  {
    name: "iptablesLocalhostNodeports",
    path: ["iptables", "localhostNodePorts"],
    kind: "truth",
    fate: {
      not: "node ports answer on loopback where --nodeport-addresses has it, and only there",
    },
  },
  {
    name: "nftablesSyncPeriod",
    path: ["nftables", "syncPeriod"],
    hasNoFlag: true,
    kind: "duration",
    fate: { option: "syncPeriod" },
  },
  {
    name: "nftablesMinSyncPeriod",
    path: ["nftables", "minSyncPeriod"],
    hasNoFlag: true,
    kind: "duration",
    fate: { option: "minSyncPeriod" },
  },
  ...IPVS_SETTINGS.map(
    ([name, key, kind]): Setting => ({ name, path: ["ipvs", key], kind, fate: { option: name } }),
  ),
  { name: "healthzBindAddress", path: ["healthzBindAddress"], kind: "text", fate: "special" },
  { name: "metricsBindAddress", path: ["metricsBindAddress"], kind: "text", fate: "special" },
  { name: "bindAddress", path: ["bindAddress"], kind: "text", fate: "special" },
  // An address that is taken always ends the start.
  { name: "bindAddressHardFail", path: ["bindAddressHardFail"], kind: "truth", fate: "given" },
  { name: "oomScoreAdj", path: ["oomScoreAdj"], kind: "whole", fate: "special" },
  { name: "v", path: ["logging", "verbosity"], kind: "whole", fate: "special" },
  { name: "loggingFormat", path: ["logging", "format"], kind: "text", fate: "special" },
  {
    name: "logFlushFrequency",
    path: ["logging", "flushFrequency"],
    kind: "any",
    fate: "given",
  },
  {
    name: "vmodule",
    path: ["logging", "vmodule"],
    kind: "any",
    fate: { not: "the log has one level for all; see --v" },
  },
  {
    name: "logOptions",
    path: ["logging", "options"],
    hasNoFlag: true,
    kind: "any",
    fate: { not: "the log goes to standard error" },
  },
  ...[
    ["conntrackMaxPerCore", "maxPerCore"],
    ["conntrackMin", "min"],
    ["conntrackTcpBeLiberal", "tcpBeLiberal"],
    ["conntrackTcpTimeoutEstablished", "tcpEstablishedTimeout"],
    ["conntrackTcpTimeoutCloseWait", "tcpCloseWaitTimeout"],
    ["conntrackUdpTimeout", "udpTimeout"],
    ["conntrackUdpTimeoutStream", "udpStreamTimeout"],
  ].map(
    ([name = "", key = ""]): Setting => ({
      name,
      path: ["conntrack", key],
      kind: "any",
      fate: { not: CONNTRACK },
    }),
  ),
  ...[
    ["kubeApiBurst", "burst"],
    ["kubeApiQps", "qps"],
    ["kubeApiContentType", "contentType"],
  ].map(
    ([name = "", key = ""]): Setting => ({
      name,
      path: ["clientConnection", key],
      kind: "any",
      fate: { not: REQUESTS },
    }),
  ),
  {
    name: "acceptContentTypes",
    path: ["clientConnection", "acceptContentTypes"],
    hasNoFlag: true,
    kind: "any",
    fate: { not: REQUESTS },
  },
  {
    name: "configSyncPeriod",
    path: ["configSyncPeriod"],
    kind: "any",
    fate: { not: "objects are followed; there is no list at times" },
  },
  {
    name: "featureGates",
    path: ["featureGates"],
    kind: "any",
    fate: { not: "there are none here" },
  },
  {
    name: "profiling",
    path: ["enableProfiling"],
    kind: "truth",
    fate: { not: "portolan profile takes profiles of a running instance" },
  },
  {
    name: "showHiddenMetricsForVersion",
    path: ["showHiddenMetricsForVersion"],
    kind: "text",
    fate: { not: "no metrics are hidden" },
  },
  // Kube-proxy does not use it either.
  { name: "proxyPortRange", path: ["portRange"], kind: "any", fate: "given" },
  {
    name: "windowsRunAsService",
    path: ["windowsRunAsService"],
    kind: "any",
    fate: { not: WINDOWS },
  },
  { name: "winkernel", path: ["winkernel"], hasNoFlag: true, kind: "any", fate: { not: WINDOWS } },
  { name: "cleanup", kind: "truth", fate: "special" },
  { name: "initOnly", kind: "truth", fate: "special" },
  {
    name: "writeConfigTo",
    kind: "text",
    fate: { not: "the configuration is not written anywhere" },
  },
  { name: "version", kind: "truth", fate: "special" },
];
