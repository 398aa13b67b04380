import { CoreError } from "../../core/errors.ts";
import { canonicalIp } from "../../core/model/address.ts";
import { flagName, type ValuesOf } from "../../core/options/option-spec.ts";
import type { HCN_OPTIONS } from "./options.ts";

type Options = ValuesOf<typeof HCN_OPTIONS>;

/** What an operator sets, checked. */
export interface HcnSettings {
  readonly networkName: string;
  /** Empty where none was given. */
  readonly sourceVip: string;
  /** Empty: that of the Node object. */
  readonly nodeIp: string;
  readonly isDsrEnabled: boolean;
  readonly syncPeriodMs: number;
  readonly fullCheckPeriodMs: number;
}

const SHORTEST_PERIOD_MS = 1000;

/** @throws CoreError ERR_CONFIG_INVALID */
export function settingsOf(options: Options, networkName: string): HcnSettings {
  return {
    networkName,
    sourceVip: addressOf("sourceVip", options.sourceVip),
    nodeIp: addressOf("nodeIp", options.nodeIp),
    isDsrEnabled: options.enableDsr,
    syncPeriodMs: periodOf("syncPeriod", options.syncPeriod),
    fullCheckPeriodMs: periodOf("fullCheckPeriod", options.fullCheckPeriod),
  };
}

/** @throws CoreError ERR_CONFIG_INVALID */
export function networkNameOf({ networkName = "" }: Options): string {
  if (networkName !== "") return networkName;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    "--network-name: missing; expected the name of the HCN network of the workloads, such as cbr0 (Get-HnsNetwork lists them), or --to userspace",
  );
}

function addressOf(option: keyof Options, text: string | undefined): string {
  if (text === undefined || text === "") return "";
  const ip = canonicalIp(text);
  if (ip !== undefined) return ip;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `--${flagName(option)}: "${text}" is not valid; expected an IPv4 or IPv6 address`,
  );
}

function periodOf(option: keyof Options, ms: number): number {
  if (ms >= SHORTEST_PERIOD_MS) return ms;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `--${flagName(option)}: ${ms}ms is too short; expected 1s or more, such as 30s`,
  );
}
