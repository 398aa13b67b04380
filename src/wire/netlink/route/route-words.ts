/** Numbers of linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h and linux/if_arp.h. */

export const NETLINK_ROUTE = 0;

export const RTM_NEWLINK = 16;
export const RTM_DELLINK = 17;
export const RTM_GETLINK = 18;
export const RTM_NEWADDR = 20;
export const RTM_DELADDR = 21;
export const RTM_GETADDR = 22;
export const RTM_NEWROUTE = 24;
export const RTM_DELROUTE = 25;
export const RTM_GETROUTE = 26;
export const RTM_GETQDISC = 38;

/** Groups of messages that a socket may hear, as bits. */
export const RTMGRP_LINK = 0x1;
export const RTMGRP_IPV4_IFADDR = 0x10;
export const RTMGRP_IPV6_IFADDR = 0x100;

/** struct ifinfomsg: family, -, type (2), index (4), flags (4), which flags change (4). */
export const IFINFOMSG_BYTES = 16;
export const IFINFO_TYPE_AT = 2;
export const IFINFO_INDEX_AT = 4;
export const IFINFO_FLAGS_AT = 8;
/** struct ifaddrmsg: family, length of the prefix, flags, scope, index (4). */
export const IFADDRMSG_BYTES = 8;
export const IFADDR_INDEX_AT = 4;

/** A type of links. Loopback and tunnels that carry IP alone have others. */
export const ARPHRD_ETHER = 1;

export const IFF_UP = 0x1;
export const IFF_NOARP = 0x80;

export const IFLA_ADDRESS = 1;
export const IFLA_IFNAME = 3;
export const IFLA_MTU = 4;
export const IFLA_MASTER = 10;
export const IFLA_LINKINFO = 18;
export const IFLA_NET_NS_FD = 28;
export const IFLA_INFO_KIND = 1;
export const IFLA_INFO_DATA = 2;
export const IFLA_INFO_SLAVE_KIND = 4;
export const IFLA_INFO_SLAVE_DATA = 5;
/** In the data of a port of a bridge: whether what comes from it may go back to it. */
export const IFLA_BRPORT_MODE = 4;
/** In the data of a veth: its other end, which begins with a struct ifinfomsg of its own. */
export const VETH_INFO_PEER = 1;

export const IFA_ADDRESS = 1;
export const IFA_LOCAL = 2;
export const IFA_CACHEINFO = 6;
export const IFA_F_NODAD = 0x2;

/** struct rtmsg: family, bits of destination and source, tos, table, protocol, scope, type, flags (4). */
export const RTMSG_BYTES = 12;
export const RT_TABLE_MAIN = 254;
/** Set by an administrator's program, not by the kernel. */
export const RTPROT_STATIC = 4;
export const RTN_UNICAST = 1;
export const RTN_UNREACHABLE = 7;
export const RTMSG_TYPE_AT = 7;
export const RTA_DST = 1;
export const RTA_SRC = 2;
export const RTA_OIF = 4;
export const RTA_GATEWAY = 5;
export const RTA_PRIORITY = 6;
export const RTA_PREFSRC = 7;

/** struct tcmsg: family, - (3), index (4), handle (4), parent (4), info (4). */
export const TCMSG_BYTES = 20;
export const TCMSG_INDEX_AT = 4;
export const TCA_KIND = 1;

export const RT_SCOPE_UNIVERSE = 0;
export const RT_SCOPE_LINK = 253;
/** Not an address to be seen elsewhere, so nobody takes it for a source. */
export const RT_SCOPE_HOST = 254;
export const FOREVER = 0xffff_ffff;
