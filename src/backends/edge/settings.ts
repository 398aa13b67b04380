import { type Cidr, canonicalIp } from "../../core/model/address.ts";
import { invalid, problemsError } from "../../core/model/problems.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import { readRanges } from "../../edge/rest/requests.ts";
import type { TunnelMode } from "../../edge/tunnel/peer.ts";
import type { EDGE_OPTIONS } from "./options.ts";

export type EdgeOptions = ValuesOf<typeof EDGE_OPTIONS>;

/** What the backend was asked for, checked. */
export interface EdgeSettings {
  readonly serviceRanges: readonly Cidr[];
  /** Of this machine in the overlay, where somebody said it. */
  readonly addresses: readonly string[];
  readonly modes: readonly TunnelMode[];
  readonly folder: string;
  readonly port: number;
  readonly mtu: number;
}

const DEFAULT_RANGES = ["10.30.0.0/16", "fdff::/16"];
const MODES: ReadonlyMap<string, TunnelMode> = new Map(
  (["secure", "fast", "compat"] as const).map((mode) => [mode, mode]),
);

/** @throws CoreError ERR_USAGE with the option */
export function edgeSettingsOf(options: EdgeOptions): EdgeSettings {
  const { edgeRange, edgeAddress, tunnelModes, tunnelFolder, tunnelListenPort, tunnelMtu } =
    options;
  const modes = tunnelModes.length === 0 ? ["secure"] : tunnelModes;
  return {
    serviceRanges: readRanges(edgeRange.length === 0 ? DEFAULT_RANGES : edgeRange, "--edge-range"),
    addresses: edgeAddress.map((text) => {
      const ip = canonicalIp(text);
      return ip ?? refuse("--edge-address", text, "an IPv4 or IPv6 address");
    }),
    modes: modes.map(
      (text) => MODES.get(text) ?? refuse("--tunnel-modes", text, [...MODES.keys()].join(", ")),
    ),
    folder: tunnelFolder,
    port: tunnelListenPort,
    mtu: tunnelMtu,
  };
}

function refuse(option: string, value: string, expected: string): never {
  throw problemsError("ERR_USAGE", [invalid([option], value, expected)]);
}
