import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";

/** proc_net(5): name, destination, gateway, flags, references, use, metric, mask, all in hexadecimal. */
const METRIC_AT = 6;
const MASK_AT = 7;

/**
 * The address by which this machine speaks to others: of the link with the best default route, else of
 * any link that is not loopback; IPv4 before IPv6. Undefined where there is none.
 * @param isOurs links that do not count
 */
export function primaryAddress(isOurs: (link: string) => boolean): string | undefined {
  const links = Object.entries(networkInterfaces()).filter(([name]) => !isOurs(name));
  const best = defaultLink(readTable());
  const inOrder = [
    ...links.filter(([name]) => name === best),
    ...links.filter(([name]) => name !== best),
  ];
  const addresses = inOrder.flatMap(([, list = []]) => list.filter(({ internal }) => !internal));
  const usable = addresses.filter(({ address }) => !address.startsWith("fe80:"));
  return (usable.find(({ family }) => family === "IPv4") ?? usable[0])?.address;
}

/** The link of the default route with the lowest metric, of a table as /proc/net/route has it. */
export function defaultLink(table: string): string | undefined {
  let best: { readonly link: string; readonly metric: number } | undefined;
  for (const line of table.split("\n").slice(1)) {
    const words = line.trim().split(/\s+/);
    const [link, destination] = words;
    const isDefault = destination === "00000000" && words[MASK_AT] === "00000000";
    const metric = Number(words[METRIC_AT]);
    if (link === undefined || !isDefault || !(metric < (best?.metric ?? Number.POSITIVE_INFINITY)))
      continue;
    best = { link, metric };
  }
  return best?.link;
}

function readTable(): string {
  try {
    return readFileSync("/proc/net/route", "utf8");
  } catch {
    return "";
  }
}
