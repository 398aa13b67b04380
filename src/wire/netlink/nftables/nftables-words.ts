/** Numbers of linux/netfilter/nfnetlink.h, nf_tables.h and netfilter.h; userdata as libnftnl lays it out. */

export const NFNL_MSG_BATCH_BEGIN = 0x10;
export const NFNL_MSG_BATCH_END = 0x11;
export const NFNL_SUBSYS_NFTABLES = 10;
const SUBSYSTEM_SHIFT = 8;
export const NFT_MSG_NEWTABLE: number = NFNL_SUBSYS_NFTABLES << SUBSYSTEM_SHIFT;
export const NFT_MSG_GETTABLE: number = (NFNL_SUBSYS_NFTABLES << SUBSYSTEM_SHIFT) | 1;
export const NFT_MSG_GETCHAIN: number = (NFNL_SUBSYS_NFTABLES << SUBSYSTEM_SHIFT) | 4;
export const NFT_MSG_NEWSETELEM: number = (NFNL_SUBSYS_NFTABLES << SUBSYSTEM_SHIFT) | 12;
export const NFT_MSG_GETSETELEM: number = (NFNL_SUBSYS_NFTABLES << SUBSYSTEM_SHIFT) | 13;
export const NFT_MSG_DELSETELEM: number = (NFNL_SUBSYS_NFTABLES << SUBSYSTEM_SHIFT) | 14;

export const NFTA_TABLE_NAME = 1;
export const NFTA_TABLE_FLAGS = 2;
/** No packet meets its chains. */
export const NFT_TABLE_F_DORMANT = 0x1;

export const NFTA_CHAIN_TABLE = 1;
export const NFTA_CHAIN_NAME = 3;
export const NFTA_CHAIN_HOOK = 4;
/** How many rules it has, and how many lead to it. */
export const NFTA_CHAIN_USE = 6;
export const NFTA_CHAIN_TYPE = 7;
export const NFTA_HOOK_HOOKNUM = 1;

export const NFTA_SET_ELEM_LIST_TABLE = 1;
export const NFTA_SET_ELEM_LIST_SET = 2;
export const NFTA_SET_ELEM_LIST_ELEMENTS = 3;
export const NFTA_LIST_ELEM = 1;

export const NFTA_SET_ELEM_KEY = 1;
export const NFTA_SET_ELEM_DATA = 2;
export const NFTA_SET_ELEM_USERDATA = 6;

export const NFTA_DATA_VALUE = 1;
export const NFTA_DATA_VERDICT = 2;
export const NFTA_VERDICT_CODE = 1;
export const NFTA_VERDICT_CHAIN = 2;

export const NF_DROP = 0;
export const NF_ACCEPT = 1;
export const NFT_JUMP = -3;
export const NFT_GOTO = -4;

/** A type and a length of one byte each, then the text with a zero byte at its end. */
export const UDATA_COMMENT = 0;
