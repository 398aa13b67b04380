/** Numbers of linux/ip_vs.h. */

export const IPVS_FAMILY_NAME = "IPVS";
export const IPVS_VERSION = 1;

export const IPVS_CMD = {
  newService: 1,
  setService: 2,
  deleteService: 3,
  getService: 4,
  newDestination: 5,
  setDestination: 6,
  deleteDestination: 7,
  getDestination: 8,
  setConfig: 12,
  getConfig: 13,
} as const;

export const IPVS_CMD_ATTR_SERVICE = 1;
export const IPVS_CMD_ATTR_DEST = 2;
export const IPVS_CMD_ATTR_TIMEOUT_TCP = 4;
export const IPVS_CMD_ATTR_TIMEOUT_TCP_FIN = 5;
export const IPVS_CMD_ATTR_TIMEOUT_UDP = 6;

export const IPVS_SVC_ATTR_AF = 1;
export const IPVS_SVC_ATTR_PROTOCOL = 2;
export const IPVS_SVC_ATTR_ADDR = 3;
export const IPVS_SVC_ATTR_PORT = 4;
export const IPVS_SVC_ATTR_FWMARK = 5;
export const IPVS_SVC_ATTR_SCHED_NAME = 6;
export const IPVS_SVC_ATTR_FLAGS = 7;
export const IPVS_SVC_ATTR_TIMEOUT = 8;
export const IPVS_SVC_ATTR_NETMASK = 9;
export const IPVS_SVC_ATTR_STATS64 = 12;

export const IPVS_DEST_ATTR_ADDR = 1;
export const IPVS_DEST_ATTR_PORT = 2;
export const IPVS_DEST_ATTR_FWD_METHOD = 3;
export const IPVS_DEST_ATTR_WEIGHT = 4;
export const IPVS_DEST_ATTR_U_THRESH = 5;
export const IPVS_DEST_ATTR_L_THRESH = 6;
export const IPVS_DEST_ATTR_ACTIVE_CONNS = 7;
export const IPVS_DEST_ATTR_INACT_CONNS = 8;
export const IPVS_DEST_ATTR_STATS64 = 12;

export const IPVS_STATS_ATTR_CONNS = 1;
export const IPVS_STATS_ATTR_INPKTS = 2;
export const IPVS_STATS_ATTR_OUTPKTS = 3;
export const IPVS_STATS_ATTR_INBYTES = 4;
export const IPVS_STATS_ATTR_OUTBYTES = 5;

/** Clients stay with their server for a time. */
export const IP_VS_SVC_F_PERSISTENT = 0x1;
/** Set by the kernel for every service that it found a place for. */
export const IP_VS_SVC_F_HASHED = 0x2;
/** For `sh` and `mh`: where the server of a client takes nobody, another one does. */
export const IP_VS_SVC_F_SCHED_FALLBACK = 0x8;
/** Of a destination's way: addresses are translated. */
export const IP_VS_CONN_F_MASQ = 0;
export const IP_VS_CONN_F_FWD_MASK = 0x7;

/** Of affinity by single addresses: a mask for IPv4, a length for IPv6. */
export const WHOLE_MASKS = { v4: 0xffff_ffff, v6: 128 } as const;

export const AF_INET = 2;
export const AF_INET6 = 10;
