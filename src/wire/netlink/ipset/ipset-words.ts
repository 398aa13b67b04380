/** Numbers of linux/netfilter/ipset/ip_set.h. */

const NFNL_SUBSYS_IPSET = 6;
const SUBSYSTEM_SHIFT = 8;

function command(number: number): number {
  return (NFNL_SUBSYS_IPSET << SUBSYSTEM_SHIFT) | number;
}

export const IPSET_CMD_CREATE: number = command(2);
export const IPSET_CMD_DESTROY: number = command(3);
export const IPSET_CMD_LIST: number = command(7);
export const IPSET_CMD_ADD: number = command(9);
export const IPSET_CMD_DEL: number = command(10);

/** The oldest that kernels still speak. */
export const IPSET_PROTOCOL = 6;

export const IPSET_ATTR_PROTOCOL = 1;
export const IPSET_ATTR_SETNAME = 2;
export const IPSET_ATTR_TYPENAME = 3;
export const IPSET_ATTR_REVISION = 4;
export const IPSET_ATTR_FAMILY = 5;
export const IPSET_ATTR_DATA = 7;
export const IPSET_ATTR_ADT = 8;

/** Within data. */
export const IPSET_ATTR_IP = 1;
export const IPSET_ATTR_PORT = 4;
export const IPSET_ATTR_PORT_TO = 5;
export const IPSET_ATTR_PROTO = 7;
export const IPSET_ATTR_CADT_FLAGS = 8;
export const IPSET_ATTR_MAXELEM = 19;
export const IPSET_ATTR_IP2 = 20;
export const IPSET_ATTR_CIDR2 = 21;
export const IPSET_ATTR_SKBMARK = 27;

/** Within an address. */
export const IPSET_ATTR_IPADDR_IPV4 = 1;
export const IPSET_ATTR_IPADDR_IPV6 = 2;

export const IPSET_FLAG_NOMATCH = 0x4;
export const IPSET_FLAG_WITH_SKBINFO = 0x40;
