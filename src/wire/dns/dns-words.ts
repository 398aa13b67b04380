/** The numbers of RFC 1035, RFC 2782 and RFC 6891. */

export const HEADER_BYTES = 12;
/** What every resolver takes over UDP. */
export const PLAIN_UDP_BYTES = 512;
/** What passes everywhere without being cut into fragments; more is not sent over UDP. */
export const MAX_UDP_BYTES = 1232;
export const MAX_MESSAGE_BYTES = 65_535;
export const MAX_NAME_BYTES = 255;

export const FLAG_RESPONSE = 0x8000;
export const FLAG_AUTHORITATIVE = 0x0400;
export const FLAG_TRUNCATED = 0x0200;
export const FLAG_RECURSION_DESIRED = 0x0100;
export const FLAG_RECURSION_AVAILABLE = 0x0080;
export const FLAG_CHECKING_DISABLED = 0x0010;
export const OPCODE_MASK = 0x7800;
export const RCODE_MASK = 0x000f;

export const TYPES = { A: 1, SOA: 6, PTR: 12, AAAA: 28, SRV: 33, OPT: 41, ANY: 255 } as const;
export const CLASS_IN = 1;

export const RCODES = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const;

export type Rcode = keyof typeof RCODES;
