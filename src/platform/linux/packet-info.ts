import { CMSG_LEVEL, CMSG_TYPE, CMSGHDR_BYTES, IPPROTO_IPV6, IPV6_PKTINFO } from "./abi.ts";
import { allocateNative, type NativeMemory } from "./native-memory.ts";

/** ip(7), in_pktinfo: interface, address to send from, address that was called. */
const V4_INTERFACE = CMSGHDR_BYTES;
/** ipv6(7), in6_pktinfo: address, interface. */
const V6_ADDRESS = CMSGHDR_BYTES;
const V6_INTERFACE = CMSGHDR_BYTES + 16;
const MULTICAST = 0xff;
/** fe80::/10: these mean nothing without their interface. */
const LINK_LOCAL = 0xfe80;
const LINK_LOCAL_MASK = 0xffc0;

/** A control message with the larger of the two, padded. */
export const PACKET_INFO_BYTES: number = CMSGHDR_BYTES + 24;

/**
 * The control message with which an answer goes out from the address that a datagram came to.
 * @param control what came with the datagram
 * @returns undefined where it says no address that can be sent from
 */
export function answerFrom(control: Uint8Array): NativeMemory | undefined {
  if (control.length < CMSGHDR_BYTES) return undefined;
  const answer = allocateNative(control.length);
  answer.bytes.set(control);
  const { view } = answer;
  const isV6 =
    view.getInt32(CMSG_LEVEL, true) === IPPROTO_IPV6 &&
    view.getInt32(CMSG_TYPE, true) === IPV6_PKTINFO;
  if (isV6 && view.getUint8(V6_ADDRESS) === MULTICAST) return undefined;
  // Which way it goes is for the routes to say.
  if (!isV6) view.setInt32(V4_INTERFACE, 0, true);
  else if ((view.getUint16(V6_ADDRESS) & LINK_LOCAL_MASK) !== LINK_LOCAL) {
    view.setInt32(V6_INTERFACE, 0, true);
  }
  return answer;
}
