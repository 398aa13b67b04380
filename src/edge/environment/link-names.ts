import { createHash } from "node:crypto";

const PREFIX = "pve-";
const DIGITS = 10;
const HOST_LINK = /^pve-[0-9a-f]{10}$/;
const MAC_BYTES = 6;
/** Of the first byte of a MAC: given by an administrator, and no group. */
const LOCAL = 0x02;

/** The link of a workload on the machine: the same after a restart, and within 15 characters. */
export function hostLinkOf(workload: string): string {
  return `${PREFIX}${digest(workload).toString("hex").slice(0, DIGITS)}`;
}

export function isHostLink(name: string): boolean {
  return HOST_LINK.test(name);
}

/** A hardware address that a bridge keeps whatever its ports are. */
export function macOf(bridge: string): Uint8Array {
  const bytes = Uint8Array.from(digest(bridge).subarray(0, MAC_BYTES));
  bytes[0] = ((bytes[0] ?? 0) & 0xfc) | LOCAL;
  return bytes;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
