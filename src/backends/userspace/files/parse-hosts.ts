import { canonicalIp, isHostName } from "../../../core/model/address.ts";
import { problemAt } from "./problem-at.ts";

/** Lower-case name to its addresses. */
export type HostTable = ReadonlyMap<string, readonly string[]>;

/**
 * Reads lines as in /etc/hosts (hosts(5)): an address and its names. Addresses that hold in one zone
 * only (`fe80::1%eth0`) are left out.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export function parseHosts(text: string): HostTable {
  const hosts = new Map<string, string[]>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [address = "", ...names] = line.replace(/#.*/, "").split(/\s+/).filter(Boolean);
    if (address === "" || address.includes("%")) continue;
    const ip = canonicalIp(address);
    const wrong = names.find((name) => !isHostName(name));
    if (ip === undefined || names.length === 0 || wrong !== undefined) {
      const subject = ip === undefined ? address : (wrong ?? address);
      throw problemAt(index, `"${subject}" is not valid; expected an IP address and its names`);
    }
    for (const name of names) add(hosts, name.toLowerCase().replace(/\.$/, ""), ip);
  }
  return hosts;
}

function add(hosts: Map<string, string[]>, name: string, ip: string): void {
  const known = hosts.get(name);
  if (known === undefined) hosts.set(name, [ip]);
  else if (!known.includes(ip)) known.push(ip);
}
