import { networkInterfaces } from "node:os";

/** The hardware address of the interface that has an address: `00-15-5D-01-02-03`. */
export function macOf(ip: string): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all
    .find(({ address }) => address === ip)
    ?.mac.replaceAll(":", "-")
    .toUpperCase();
}
