import type { Exec } from "../exec.ts";
import { asList, asObject, asText } from "./nft/json.ts";

/** The links that each link stands on, by its name: the ports of a bridge, what a VLAN is on, and what those stand on. */
export async function readLinksBeneath(
  exec: Exec,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { exitCode, stdout } = await exec.run("ip", ["-j", "-d", "link", "show"]);
  const json: unknown = exitCode === 0 ? JSON.parse(stdout) : [];
  const next = new Map<string, Set<string>>();
  const put = (above: string, link: string): void => {
    if (above === "" || link === "") return;
    next.set(above, (next.get(above) ?? new Set()).add(link));
  };
  for (const item of asList(json)) {
    const { ifname, master, link, linkinfo } = asObject(item);
    put(asText(master), asText(ifname));
    // What a link of a pair names is its other end, which is beside it.
    if (asObject(linkinfo)["info_kind"] !== "veth") put(asText(ifname), asText(link));
  }
  return new Map([...next.keys()].map((link) => [link, allBeneath(link, next)]));
}

function allBeneath(
  link: string,
  next: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> {
  const all = new Set(next.get(link));
  for (const each of all) for (const below of next.get(each) ?? []) all.add(below);
  return all;
}
