import { parseCidr } from "../model/address.ts";
import type { NodePortAddresses } from "./route-policy.ts";

/** What `parseNodePortAddresses` reads, for errors. */
export const NODE_PORT_ADDRESSES_FORM =
  "primary, all, localhost, or networks such as 10.0.0.0/8,fd00::/8";

/** Reads `primary`, `all`, `localhost` or networks separated by commas; undefined: none of these. */
export function parseNodePortAddresses(text: string): NodePortAddresses | undefined {
  if (text === "primary" || text === "all" || text === "localhost") return text;
  const networks = text.split(",").map((part) => parseCidr(part.trim())?.text);
  const valid = networks.filter((network) => network !== undefined);
  return valid.length === networks.length ? valid : undefined;
}
