/** Numbers of linux/netfilter/nfnetlink.h and nfnetlink_conntrack.h. */

export const NETLINK_NETFILTER = 12;
/** struct nfgenmsg: family, version, and a resource that conntrack does not use. */
export const NFGENMSG_BYTES = 4;

const NFNL_SUBSYS_CTNETLINK = 1;
const SUBSYSTEM_SHIFT = 8;
export const CT_NEW: number = NFNL_SUBSYS_CTNETLINK << SUBSYSTEM_SHIFT;
export const CT_GET: number = (NFNL_SUBSYS_CTNETLINK << SUBSYSTEM_SHIFT) | 1;
export const CT_DELETE: number = (NFNL_SUBSYS_CTNETLINK << SUBSYSTEM_SHIFT) | 2;

export const CTA_TUPLE_ORIG = 1;
export const CTA_TUPLE_REPLY = 2;
export const CTA_STATUS = 3;
export const CTA_PROTOINFO = 4;
export const CTA_HELP = 5;
export const CTA_TIMEOUT = 7;
export const CTA_MARK = 8;
export const CTA_ID = 12;
export const CTA_SEQ_ADJ_ORIG = 15;
export const CTA_SEQ_ADJ_REPLY = 16;
export const CTA_ZONE = 18;
export const CTA_FILTER = 25;

export const CTA_TUPLE_IP = 1;
export const CTA_TUPLE_PROTO = 2;

export const CTA_IP_V4_SRC = 1;
export const CTA_IP_V4_DST = 2;
export const CTA_IP_V6_SRC = 3;
export const CTA_IP_V6_DST = 4;

export const CTA_PROTO_NUM = 1;
export const CTA_PROTO_SRC_PORT = 2;
export const CTA_PROTO_DST_PORT = 3;

export const CTA_PROTOINFO_TCP = 1;
export const CTA_PROTOINFO_TCP_STATE = 1;
/** struct nf_ct_tcp_flags: flags, and a mask of those that are meant; a byte each. */
export const CTA_PROTOINFO_TCP_FLAGS_ORIGINAL = 4;
export const CTA_PROTOINFO_TCP_FLAGS_REPLY = 5;

export const CTA_FILTER_ORIG_FLAGS = 1;
export const CTA_FILTER_REPLY_FLAGS = 2;
/** Which fields of the tuple a filter compares: bits of nf_internals.h. */
export const FILTER_IP_DST: number = 1 << 1;
export const FILTER_PROTO_NUM: number = 1 << 3;
export const FILTER_DST_PORT: number = 1 << 5;

/** enum ip_conntrack_status. */
export const IPS_ASSURED: number = 1 << 2;
export const IPS_SRC_NAT: number = 1 << 4;
export const IPS_DST_NAT: number = 1 << 5;

export const NFPROTO_IPV4 = 2;
export const NFPROTO_IPV6 = 10;
