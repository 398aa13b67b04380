import type { LinkTable } from "./link-table.ts";

/** A link of Ethernet that belongs to no other one. */
export interface PlainLink {
  readonly link: number;
  readonly name: string;
  readonly mtu: number;
}

/** There programs of others see what comes by a link, or goes. */
const KINDS_WITH_PROGRAMS: ReadonlySet<string> = new Set(["ingress", "clsact"]);

/**
 * A frame alone says where it goes. Tunnels may want to be told more beside it, which the route that led to them
 * says; others lead nowhere. Cards have no kind.
 */
const PLAIN_KINDS: ReadonlySet<string> = new Set([
  "",
  "veth",
  "bridge",
  "bond",
  "team",
  "vlan",
  "tun",
]);

/**
 * The links of Ethernet that are up and that nobody else's programs are set up for. Ports of bridges and
 * bonds are left to those.
 * @throws CoreError ERR_SYSTEM_CALL
 */
export async function plainEthernetLinks(
  table: Pick<LinkTable, "list" | "qdiscs">,
): Promise<readonly PlainLink[]> {
  const [links, qdiscs] = await Promise.all([table.list(), table.qdiscs()]);
  const taken = new Set(
    qdiscs.filter(({ kind }) => KINDS_WITH_PROGRAMS.has(kind)).map(({ link }) => link),
  );
  return links
    .filter(({ isUp, isEthernet, master }) => isUp && isEthernet && master === 0)
    .filter(({ kind }) => PLAIN_KINDS.has(kind))
    .filter(({ link }) => !taken.has(link))
    .map(({ link, name, mtu }) => ({ link, name, mtu }));
}
