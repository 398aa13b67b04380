/**
 * Memory of a processor for the packet at hand. It is the value of a map, not the stack: what is read from it again
 * the verifier knows nothing about, so it does not follow each way through a program by itself.
 */

/** What is sealed at most: 8 bytes of segment header, and a packet. */
export const MAX_TEXT_BYTES = 520;
export const MAX_BLOCKS = 9;

/** Where a field is. */
export const SCRATCH = {
  /** Ethernet, IPv4, UDP and the prefix of the wire form: 58 bytes at most. */
  headers: 0,
  /** Segment header and packet, with room for whole blocks of ciphers, or for the tag behind it. */
  text: 64,
  packet: 72,
  keystream: 640,
  /** RFC 8439, 2.3: constants, key, number of the block, nonce. */
  state: 704,
  tag: 768,
  /** The tag that came with a datagram. */
  givenTag: 784,
  /** FLOW_KEY of the packet. */
  flowKey: 800,
  /** Its ends as they shall be: the first fields of FLOW_VALUE. */
  ends: 840,
  routeKey: 880,
  senderKey: 904,
  /** A copy of a PEER_VALUE or SENDER_VALUE. */
  way: 920,
  nowNs: 992,
  packetBytes: 1000,
  textBytes: 1004,
  /** From the beginning of the packet on. */
  checksumAt: 1008,
  /** Not 0: the checksum may cover the pseudo header only so far. */
  mayBePartial: 1012,
  /** The key of a look-up. */
  number: 1016,
  peer: 1020,
  tun: 1024,
  counter: 1028,
  /** Of a datagram, by what it says. */
  mode: 1032,
  /** Behind the header of TCP; of other protocols there is always something. */
  payloadBytes: 1036,
} as const;

export const SCRATCH_BYTES = 1040;
export const KEYSTREAM_BYTES = 64;

/** The entries of both programs: while one is at work, the other may begin on the same processor. */
export const SENDING_SCRATCH = 0;
export const RECEIVING_SCRATCH = 1;

/** Where both programs keep what they work with; calls leave these alone. */
export const CONTEXT = "r6";
export const MEMORY = "r7";
/** The RECORD of the session. */
export const RECORD_AT = "r9";
