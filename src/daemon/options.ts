import type { ListenAddress } from "../core/options/listen-address.ts";
import type { OptionSpec, OptionSpecs, ValuesOf } from "../core/options/option-spec.ts";
import { AVAILABLE_BACKENDS } from "./backend-words.ts";
import { KUBE_OPTIONS } from "./kube-options.ts";
import { MANAGER_OPTIONS } from "./manager/manager-options.ts";
import { MESH_OPTIONS } from "./mesh/mesh-options.ts";

/** Options of every command. */
export const LOG_OPTIONS = {
  logLevel: {
    kind: "enum",
    values: ["debug", "info", "warn", "error", "silent"],
    default: "info",
    help: "what is logged, to standard error",
  },
  logFormat: {
    kind: "enum",
    values: ["auto", "pretty", "json"],
    default: "auto",
    help: "auto: pretty on a terminal, JSON elsewhere",
  },
} as const;

export type LogLevel = ValuesOf<typeof LOG_OPTIONS>["logLevel"];
export type LogFormat = ValuesOf<typeof LOG_OPTIONS>["logFormat"];

/** What reading state files needs. */
export const FILE_OPTIONS = {
  maxFileBytes: {
    kind: "number",
    min: 1,
    max: 4_294_967_296,
    default: 268_435_456,
    help: "a state file, or all files of a folder, may have so many bytes",
  },
} as const;

/** What `--from api:` needs. */
export const API_CLIENT_OPTIONS = {
  apiClientTlsCert: {
    kind: "string",
    placeholder: "FILE",
    help: "certificate (PEM) that this program shows to the API",
  },
  apiClientTlsKey: { kind: "string", placeholder: "FILE", help: "its private key (PEM)" },
  apiClientTlsCa: {
    kind: "string",
    placeholder: "FILE",
    help: "authorities (PEM) that the API's certificate must come from",
  },
} as const;

/** What `--from etcd:` and `--target etcd:` need. */
export const ETCD_OPTIONS = {
  etcdPrefix: {
    kind: "string",
    placeholder: "KEY",
    default: "/portolan/",
    help: "what the keys of Portolan begin with in etcd",
  },
  etcdUser: {
    kind: "string",
    placeholder: "NAME",
    help: "the user of etcd, where it asks who comes",
  },
  etcdPasswordFile: {
    kind: "string",
    placeholder: "FILE",
    help: "a file with its password; PORTOLAN_ETCD_PASSWORD says it as well",
  },
  etcdTls: {
    kind: "boolean",
    help: "speak TLS, with the authorities of this machine where none are given",
  },
  etcdTlsCa: {
    kind: "string",
    placeholder: "FILE",
    help: "authorities (PEM) that the certificate of etcd must come from",
  },
  etcdTlsCert: {
    kind: "string",
    placeholder: "FILE",
    help: "certificate (PEM) that this program shows to etcd",
  },
  etcdTlsKey: { kind: "string", placeholder: "FILE", help: "its private key (PEM)" },
  etcdMaxObjects: {
    kind: "number",
    min: 1,
    max: 10_000_000,
    default: 1_000_000,
    help: "more objects are left out, and told",
  },
  etcdMaxObjectBytes: {
    kind: "number",
    min: 1024,
    max: 67_108_864,
    default: 1_048_576,
    help: "an object with more bytes is left out, and told",
  },
} as const;

/** What `--to api` needs. */
export const API_SERVER_OPTIONS = {
  apiListen: {
    kind: "address",
    default: "127.0.0.1:12090",
    help: "where --to api listens",
  },
  apiTlsCert: { kind: "string", placeholder: "FILE", help: "certificate (PEM) of the API" },
  apiTlsKey: { kind: "string", placeholder: "FILE", help: "its private key (PEM)" },
  apiTlsCa: {
    kind: "string",
    placeholder: "FILE",
    help: "authorities (PEM) that clients' certificates must come from",
  },
  apiAnnouncements: {
    kind: "boolean",
    help: "whoever may call the API may announce instances of services there; a manager lets those do it who have an identity of the service",
  },
  apiMaxMessageBytes: {
    kind: "number",
    min: 1024,
    max: 1_073_741_824,
    default: 4_194_304,
    help: "a longer message of a client is refused",
  },
} as const;

type ListSpec = Extract<OptionSpec, { readonly kind: "list" }>;

/** What flows where; in a config file these are the lists `sources` and `backends`. */
export const WORDS: { readonly from: ListSpec; readonly to: ListSpec } = {
  from: {
    kind: "list",
    placeholder: "SOURCE",
    suggestions: ["file:", "kube", "api:", "api:unix:", "etcd:"],
    help: "a source: file:PATH, kube, kube:CONTEXT, api:HOST:PORT, api:unix:PATH, etcd:HOST:PORT[,HOST:PORT]; may be repeated",
  },
  to: {
    kind: "list",
    placeholder: "BACKEND",
    suggestions: AVAILABLE_BACKENDS,
    help: `a backend: ${AVAILABLE_BACKENDS.join(", ")} (the best one that works here); may be repeated`,
  },
};

/** How one instance is wired. */
export const INSTANCE_OPTIONS = {
  node: { kind: "string", placeholder: "NAME", help: "this node; the host name when not given" },
  state: {
    kind: "string",
    placeholder: "DIR",
    help: "the folder of this instance, where other commands find it; the user's state folder when not given",
  },
  once: { kind: "boolean", help: "end with 0 when the first sync is applied by all backends" },
  dryRun: { kind: "boolean", help: "print what would be done and do nothing" },
  json: { kind: "boolean", help: "with --dry-run: print for machines" },
  sourceOrder: {
    kind: "enum",
    values: ["refuse", "first-wins"],
    default: "refuse",
    help: "when two sources claim one name or address: refuse the later claim, or let the source that is given first win",
  },
  pipe: {
    kind: "enum",
    values: ["separate", "parallel", "sequence"],
    default: "separate",
    help: "whether backends have a stream each, or share one and apply a change all at once or in the order given",
  },
  metricsListen: {
    kind: "address",
    canBeOff: true,
    help: "where /metrics is served, or off; off unless given, with up 127.0.0.1:10249",
  },
  kubeProxyMetrics: {
    kind: "boolean",
    help: "with --metrics-listen: also metrics by the names that kube-proxy has, and /proxyMode",
  },
  healthListen: {
    kind: "address",
    canBeOff: true,
    help: "where /healthz, /livez and /readyz are served, or off; off unless given, with up 127.0.0.1:10256",
  },
} as const;

/** What `up` has beside `run`: commands, and who may give them. */
export const CONTROL_OPTIONS = {
  respListen: {
    kind: "address",
    canBeOff: true,
    default: "127.0.0.1:16309",
    help: "where commands are taken from redis-cli, or off",
  },
  respPasswordFile: {
    kind: "string",
    placeholder: "FILE",
    help: "a file with the password of that; PORTOLAN_RESP_PASSWORD says it as well",
  },
  httpListen: {
    kind: "address",
    canBeOff: true,
    default: "127.0.0.1:18776",
    help: "where the HTTP API and its page are, or off",
  },
  httpTokenFile: {
    kind: "string",
    placeholder: "FILE",
    help: "a file with the bearer token of that; PORTOLAN_HTTP_TOKEN says it as well",
  },
  httpHosts: {
    kind: "list",
    placeholder: "NAME",
    help: "a name by which the HTTP API may be called, beside addresses and localhost; may be repeated",
  },
  allowSystemCommands: {
    kind: "boolean",
    help: "also those who come by RESP and HTTP may save, load, end the instance and change controllers",
  },
  noLoad: {
    kind: "boolean",
    help: "begin without what commands made before; its journal is kept aside",
  },
  console: {
    kind: "boolean",
    help: "type commands on the terminal that this is started on",
  },
} as const;

export const CONFIG_OPTION = {
  config: {
    kind: "string",
    placeholder: "FILE",
    help: "a config file (YAML or JSON) with options, sources and backends",
  },
} as const;

/** All options of a config file, apart from those of backends. */
export const RUN_OPTIONS: typeof INSTANCE_OPTIONS &
  typeof FILE_OPTIONS &
  typeof KUBE_OPTIONS &
  typeof API_SERVER_OPTIONS &
  typeof API_CLIENT_OPTIONS &
  typeof ETCD_OPTIONS &
  typeof MESH_OPTIONS &
  typeof LOG_OPTIONS = {
  ...INSTANCE_OPTIONS,
  ...FILE_OPTIONS,
  ...KUBE_OPTIONS,
  ...API_SERVER_OPTIONS,
  ...API_CLIENT_OPTIONS,
  ...ETCD_OPTIONS,
  ...MESH_OPTIONS,
  ...LOG_OPTIONS,
};

type Addresses = "metricsListen" | "healthListen";

/** An address that is off is as one that was not given. */
export type RunValues = Omit<ValuesOf<typeof RUN_OPTIONS>, Addresses> &
  Readonly<Record<Addresses, ListenAddress | undefined>>;

export type ControlValues = ValuesOf<typeof CONTROL_OPTIONS>;

/** All options that a config file may hold, in the groups in which help and docs show them. */
export const OPTION_GROUPS: readonly { readonly title: string; readonly specs: OptionSpecs }[] = [
  { title: "This instance", specs: INSTANCE_OPTIONS },
  { title: "Commands (portolan up)", specs: CONTROL_OPTIONS },
  { title: "Manager (portolan manager)", specs: MANAGER_OPTIONS },
  { title: "State files", specs: FILE_OPTIONS },
  { title: "Kubernetes (--from kube)", specs: KUBE_OPTIONS },
  { title: "API server (--to api)", specs: API_SERVER_OPTIONS },
  { title: "API client (--from api:)", specs: API_CLIENT_OPTIONS },
  { title: "etcd (--from etcd:)", specs: ETCD_OPTIONS },
  { title: "Mesh", specs: MESH_OPTIONS },
  { title: "Logs", specs: LOG_OPTIONS },
];
