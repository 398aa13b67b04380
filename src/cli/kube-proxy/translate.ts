import { CoreError } from "../../core/errors.ts";
import { flagName } from "../../core/options/option-spec.ts";
import type { SettingValue, SettingValues } from "./read-settings.ts";
import { SETTINGS } from "./settings.ts";

/** What an instance is told in place of what kube-proxy would be. */
export interface Translation {
  /** Options of `run`, by their name in code. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** What can not be honoured, a line each. */
  readonly notHonoured: readonly string[];
  readonly oomScoreAdj: number | undefined;
}

/** What a backend is known to take. */
export interface TranslationTarget {
  readonly backend: string;
  /** Options of it, and of every instance. */
  readonly knownOptions: ReadonlySet<string>;
}

const MODES: readonly string[] = ["iptables", "nftables", "ipvs"];
const NOTHING: ReadonlySet<string> = new Set(["", "0", "0s", "false"]);
const DEFAULT_MODE = "iptables";

const DETECTION: ReadonlyMap<string, string> = new Map([
  ["ClusterCIDR", "cluster-cidr"],
  ["NodeCIDR", "node-cidr"],
  ["BridgeInterface", "interface"],
  ["InterfaceNamePrefix", "interface"],
]);

const HEALTH = { address: "0.0.0.0", port: 10256 };
const METRICS = { address: "127.0.0.1", port: 10249 };
const DEBUG_FROM = 4;

/** The backend of a mode. @throws CoreError ERR_CONFIG_INVALID */
export function backendOf(settings: SettingValues): string {
  const mode = textOf(settings, "proxyMode");
  if (mode === "") return DEFAULT_MODE;
  if (MODES.includes(mode)) return mode;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `proxy mode: "${mode}" is not valid here; expected one of ${MODES.join(", ")}`,
  );
}

export function translate(settings: SettingValues, target: TranslationTarget): Translation {
  const { flags: plain, notHonoured } = translatePlain(settings, target);
  const bindAddress = textOf(settings, "bindAddress");
  if (!["", "0.0.0.0", "::"].includes(bindAddress)) {
    notHonoured.push("--bind-address: the addresses of this node come from its Node object");
  }
  const oomScoreAdj = settings.get("oomScoreAdj");
  const flags = {
    from: ["kube"],
    kubeProxyMetrics: true,
    ...plain,
    ...masterFlags(settings),
    ...detectionFlags(settings),
    ...logFlags(settings),
    nodeportAddresses: nodePortAddresses(settings, target.backend),
    healthListen: addressOf(settings, "healthzBindAddress", HEALTH),
    metricsListen: addressOf(settings, "metricsBindAddress", METRICS),
  };
  return {
    flags,
    notHonoured,
    oomScoreAdj: typeof oomScoreAdj === "number" ? oomScoreAdj : undefined,
  };
}

function translatePlain(
  settings: SettingValues,
  { backend, knownOptions }: TranslationTarget,
): { readonly flags: Record<string, unknown>; readonly notHonoured: string[] } {
  const flags: Record<string, unknown> = {};
  const notHonoured: string[] = [];
  for (const { name, fate, kind, path } of SETTINGS) {
    const value = settings.get(name);
    if (
      value === undefined ||
      isNothing(value) ||
      typeof fate === "string" ||
      isOfOtherMode(path, backend)
    )
      continue;
    if ("not" in fate) notHonoured.push(`--${flagName(name)}: ${fate.not}`);
    else if (knownOptions.has(fate.option)) flags[fate.option] = optionValue(value, kind);
    else notHonoured.push(`--${flagName(name)}: the backend ${backend} has no such option`);
  }
  return { flags, notHonoured };
}

/** What a configuration that was written by a program says of everything: nothing. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || NOTHING.has(String(value))) return true;
  return typeof value === "object" && Object.values(value).every(isNothing);
}

/** Kube-proxy, too, leaves aside what is for another mode than the one it is in. */
function isOfOtherMode(path: readonly string[] | undefined, backend: string): boolean {
  const [section = ""] = path ?? [];
  return MODES.includes(section) && section !== backend;
}

function optionValue(value: SettingValue, kind: string): unknown {
  return kind === "duration" ? `${String(value)}ms` : value;
}

function masterFlags(settings: SettingValues): object {
  const master = textOf(settings, "master");
  return master === "" ? {} : { kubeServer: [master] };
}

/** @throws CoreError ERR_CONFIG_INVALID */
function detectionFlags(settings: SettingValues): object {
  const mode = textOf(settings, "detectLocalMode");
  if (mode === "") return {};
  const detectLocalMode = DETECTION.get(mode);
  if (detectLocalMode === undefined) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `detect-local-mode: "${mode}" is not valid; expected one of ${[...DETECTION.keys()].join(", ")}`,
    );
  }
  if (detectLocalMode === "cluster-cidr" && textOf(settings, "clusterCidr") === "") return {};
  const name = mode === "BridgeInterface" ? "podBridgeInterface" : "podInterfaceNamePrefix";
  const prefix = textOf(settings, name);
  return {
    detectLocalMode,
    ...(detectLocalMode === "interface" && prefix !== "" && { podInterfaceNamePrefix: prefix }),
  };
}

function logFlags(settings: SettingValues): object {
  return {
    ...(Number(settings.get("v") ?? 0) >= DEBUG_FROM && { logLevel: "debug" }),
    ...(textOf(settings, "loggingFormat") === "json" && { logFormat: "json" }),
  };
}

/** As kube-proxy has it: nothing said means all, but the primary ones with nftables. */
function nodePortAddresses(settings: SettingValues, backend: string): string {
  const given = settings.get("nodeportAddresses");
  const texts = Array.isArray(given) ? given.filter((text) => text !== "") : [];
  if (texts.length > 0) return texts.join(",");
  return backend === "nftables" ? "primary" : "all";
}

function addressOf(
  settings: SettingValues,
  name: string,
  standard: { readonly address: string; readonly port: number },
): string {
  const given = settings.get(name);
  if (given === undefined) return `${standard.address}:${standard.port}`;
  const text = String(given);
  if (text === "") return "off";
  const isWhole = /^(\[[^\]]+\]|[^:]*):\d+$/.test(text);
  if (isWhole) return text.startsWith(":") ? `0.0.0.0${text}` : text;
  return text.includes(":") ? `[${text}]:${standard.port}` : `${text}:${standard.port}`;
}

function textOf(settings: SettingValues, name: string): string {
  const value = settings.get(name);
  return typeof value === "string" ? value : "";
}
