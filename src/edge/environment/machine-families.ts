import { existsSync } from "node:fs";
import { FAMILIES, type Family } from "../../core/model/address.ts";

/** The families that the kernel of this machine speaks. */
export function machineFamilies(): readonly Family[] {
  return existsSync("/proc/sys/net/ipv6") ? FAMILIES : ["v4"];
}
