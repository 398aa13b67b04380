/** Numbers of linux/rtnetlink.h, linux/if_link.h and linux/if_addr.h. */

export const NETLINK_ROUTE = 0;

export const RTM_NEWLINK = 16;
export const RTM_DELLINK = 17;
export const RTM_GETLINK = 18;
export const RTM_NEWADDR = 20;
export const RTM_DELADDR = 21;
export const RTM_GETADDR = 22;

/** struct ifinfomsg: family, -, type (2), index (4), flags (4), which flags change (4). */
export const IFINFOMSG_BYTES = 16;
export const IFINFO_INDEX_AT = 4;
export const IFINFO_FLAGS_AT = 8;
/** struct ifaddrmsg: family, length of the prefix, flags, scope, index (4). */
export const IFADDRMSG_BYTES = 8;
export const IFADDR_INDEX_AT = 4;

export const IFF_UP = 0x1;
export const IFF_NOARP = 0x80;

export const IFLA_IFNAME = 3;
export const IFLA_LINKINFO = 18;
export const IFLA_INFO_KIND = 1;

export const IFA_ADDRESS = 1;
export const IFA_LOCAL = 2;
export const IFA_CACHEINFO = 6;
export const IFA_F_NODAD = 0x2;

/** Not an address to be seen elsewhere, so nobody takes it for a source. */
export const RT_SCOPE_HOST = 254;
export const FOREVER = 0xffff_ffff;
