import { networkInterfaces } from "node:os";
import { canonicalIp } from "../../core/model/address.ts";

/** The addresses of all interfaces at this moment. */
export function readMachineAddresses(): ReadonlySet<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return new Set(addresses.flatMap(({ address }) => canonicalIp(address) ?? []));
}
