/** Numbers of linux/netlink.h. Headers are in the byte order of the machine: little endian here. */

/** struct nlmsghdr: length, type (2 bytes), flags (2 bytes), sequence, port. */
export const HEADER_BYTES = 16;
export const TYPE_AT = 4;
export const FLAGS_AT = 6;
export const SEQUENCE_AT = 8;

/** struct nlattr: length and type, 2 bytes each; the length counts the header, not the padding. */
export const ATTRIBUTE_HEADER_BYTES = 4;

/** Messages and attributes begin at multiples of this. */
export const ALIGNMENT = 4;

export const NLM_F_REQUEST = 0x1;
export const NLM_F_ACK = 0x4;
export const NLM_F_DUMP = 0x300;
/** Of a request that makes something: what is not there comes to be. */
export const NLM_F_CREATE = 0x400;
/** Of a request that makes something: what is there is replaced. */
export const NLM_F_REPLACE = 0x100;
/** Of a request that makes something: what is there is refused. */
export const NLM_F_EXCL = 0x200;
/** Of a part of a dump: the state changed while it was read. */
export const NLM_F_DUMP_INTR = 0x10;
/** Of an error: it echoes the header of the request only, not all of it. */
export const NLM_F_CAPPED = 0x100;
/** Of an error or the end of a dump: attributes follow that say more. */
export const NLM_F_ACK_TLVS = 0x200;

export const NLMSG_ERROR = 2;
export const NLMSG_DONE = 3;

export const NLA_F_NESTED = 0x8000;
/** Of an attribute whose number is in network byte order, where a family tells both apart. */
export const NLA_F_NET_BYTEORDER = 0x4000;
/** An attribute's type without its flags. */
export const NLA_TYPE_MASK = 0x3fff;

export const NLMSGERR_ATTR_MSG = 1;
export const NLMSGERR_ATTR_OFFS = 2;
export const NLMSGERR_ATTR_MISS_TYPE = 5;

/** Rounded up to where the next message or attribute begins. */
export function aligned(byteCount: number): number {
  return (byteCount + ALIGNMENT - 1) & -ALIGNMENT;
}
