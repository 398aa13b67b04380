import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { canonicalIp, isLoopback } from "../../../core/model/address.ts";
import type { Packet } from "../../../core/route/packet.ts";
import type { TableState } from "../../../wire/netlink/nftables/table-messages.ts";
import type { ConntrackTable } from "../conntrack/conntrack-table.ts";
import type { Exec } from "../exec.ts";
import type { LiveFacts } from "./live-packet.ts";
import { asList, asObject, asText } from "./nft/json.ts";
import { readLinksBeneath } from "./read-links-beneath.ts";

const RECENT_FOLDER = "/proc/net/xt_recent";
const NO_LINKS: ReadonlySet<string> = new Set();

/** What is asked of the machine; tests give their own. */
export interface LiveWorld {
  readonly exec: Exec;
  readonly openConntrack: () => ConntrackTable;
  /** All tables of nftables. @throws CoreError ERR_SYSTEM_CALL */
  readonly listTables: () => Promise<readonly TableState[]>;
  /** The addresses of all its interfaces. */
  readonly ownAddresses: () => ReadonlySet<string>;
}

/** The addresses of all interfaces at this moment. */
export function readOwnAddresses(): ReadonlySet<string> {
  const entries = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(entries.flatMap(({ address }) => canonicalIp(address) ?? []));
}

/** What the machine is like at this moment, as far as this packet needs it. */
export async function readLiveFacts(
  packet: Packet,
  { exec, ownAddresses }: Pick<LiveWorld, "exec" | "ownAddresses">,
): Promise<LiveFacts> {
  const own = ownAddresses();
  const inInterface = packet.from === "node" ? undefined : await routeTo(exec, packet.src);
  const beneath = await readLinksBeneath(exec);
  return {
    isLocalAddress: (ip) => isLoopback(ip) || own.has(ip),
    interfaceOf: (ip) => (ip === packet.src ? inInterface : undefined),
    linksBeneath: (link) => beneath.get(link) ?? NO_LINKS,
    wasSeen: (list, ip) => isOnList(list, ip),
  };
}

/** Packets come in where answers to them go out, unless routing is lopsided. */
async function routeTo(exec: Exec, ip: string): Promise<string | undefined> {
  const { exitCode, stdout } = await exec.run("ip", ["-j", "route", "get", ip]);
  if (exitCode !== 0) return undefined;
  const json: unknown = JSON.parse(stdout);
  const { dev } = asObject(asList(json)[0]);
  return typeof dev === "string" ? dev : undefined;
}

/** By which links packets to addresses leave; without those that there is no way to. */
export async function routesTo(
  exec: Exec,
  ips: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const routes = new Map<string, string>();
  if (ips.size === 0) return routes;
  const stdin = [...ips].map((ip) => `route get ${ip}\n`).join("");
  // Its exit code tells only that one of them has no route.
  const { stdout } = await exec.run("ip", ["-force", "-j", "-batch", "-"], { stdin });
  for (const line of stdout.split("\n").filter((each) => each.startsWith("["))) {
    const json: unknown = JSON.parse(line);
    const { dst, dev } = asObject(asList(json)[0]);
    const ip = canonicalIp(asText(dst));
    if (ip !== undefined && typeof dev === "string") routes.set(ip, dev);
  }
  return routes;
}

/** How long ago it was is told in a unit that differs between kernels: who is there may be too old. */
function isOnList(list: string, ip: string): boolean | undefined {
  let text: string;
  try {
    text = readFileSync(join(RECENT_FOLDER, list), "utf8");
  } catch {
    return false;
  }
  const addresses = [...text.matchAll(/^src=(\S+)/gm)].map(([, address]) => address ?? "");
  return addresses.some((address) => canonicalIp(address) === ip) ? undefined : false;
}
