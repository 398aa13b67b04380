/** RFC 791, RFC 8200, RFC 9293, RFC 768, RFC 792, RFC 4443: numbers, and where fields are. */

export const PROTOCOL_ICMP = 1;
export const PROTOCOL_TCP = 6;
export const PROTOCOL_UDP = 17;
export const PROTOCOL_ICMP6 = 58;

export const V4_HEADER_BYTES = 20;
export const V4_LENGTH = 2;
export const V4_ID = 4;
export const V4_FRAGMENT = 6;
export const V4_PROTOCOL = 9;
export const V4_CHECKSUM = 10;
export const V4_SOURCE = 12;
export const V4_DESTINATION = 16;
export const V4_DONT_FRAGMENT = 0x4000;
export const V4_MORE_FRAGMENTS = 0x2000;
export const V4_FRAGMENT_OFFSET = 0x1fff;

export const V6_HEADER_BYTES = 40;
export const V6_LENGTH = 4;
export const V6_NEXT = 6;
export const V6_SOURCE = 8;
export const V6_DESTINATION = 24;

export const TCP_HEADER_BYTES = 20;
export const TCP_SEQUENCE = 4;
export const TCP_DATA_OFFSET = 12;
export const TCP_FLAGS = 13;
export const TCP_CHECKSUM = 16;
export const TCP_FIN = 0x01;
export const TCP_SYN = 0x02;
export const TCP_RST = 0x04;
export const TCP_PSH = 0x08;
export const TCP_ACK = 0x10;
export const TCP_CWR = 0x80;

export const UDP_HEADER_BYTES = 8;
export const UDP_LENGTH = 4;
export const UDP_CHECKSUM = 6;

export const ICMP_HEADER_BYTES = 8;
export const ICMP_CHECKSUM = 2;
export const ICMP_ID = 4;
export const ICMP_ECHO_REPLY = 0;
export const ICMP_ECHO = 8;
export const ICMP6_ECHO = 128;
export const ICMP6_ECHO_REPLY = 129;
