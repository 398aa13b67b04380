import { AF_INET, AF_INET6 } from "../../platform/linux/abi.ts";
import type { Peer } from "../tunnel/peer.ts";
import type { Endpoint } from "./entries.ts";

/** ip(7), ipv6(7): where the fields of a sockaddr are. */
const PORT_AT = 2;
const V4_ADDRESS_AT = 4;
const V6_ADDRESS_AT = 8;
const V4_IN_V6_AT = 20;
/** RFC 4291, 2.5.5.2: what stands before an address of IPv4, in three words. */
const MAPPED: readonly number[] = [0, 0, 0xffff];

/** Where a peer is, where that is an address of IPv4, also as one of IPv6. */
export function v4EndpointOf({ name: { view }, nameBytes }: Peer): Endpoint | undefined {
  if (nameBytes === 0) return undefined;
  const family = view.getUint16(0, true);
  const port = view.getUint16(PORT_AT);
  if (family === AF_INET) return { ip: view.getUint32(V4_ADDRESS_AT), port };
  const isMapped =
    family === AF_INET6 &&
    MAPPED.every((word, index) => view.getUint32(V6_ADDRESS_AT + 4 * index) === word);
  return isMapped ? { ip: view.getUint32(V4_IN_V6_AT), port } : undefined;
}
